// Reads rows of bits from NumPy's .npy files.
#pragma once

#include <kith/bit_index.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// What a file held, packed as BitView wants it.
struct KITH_EXPORT BitFile {
  std::vector<std::uint8_t> bytes;
  std::uint64_t rows = 0;
  std::uint32_t bits = 0;

  BitView view() const { return BitView(bytes.data(), rows, bits); }
};

/// Reads a two-dimensional array; "-" is standard input. Of uint8, each value holds 8 bits, as numpy.packbits writes
/// them; of bool, each value is a bit. Throws IoError if the file cannot be opened or read, CorruptFile if it is
/// damaged or no .npy, BadData if the array has another type or shape, OutOfMemory, Interrupted.
KITH_EXPORT BitFile read_bits(const std::string& path, const ProgressCallback& progress = {});

}  // namespace kith::io::inline v0
