// See read_bits.hpp.
#include <kith/io/read_bits.hpp>

#include "io/numpy/npy_header.hpp"
#include "runtime/input_file.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace kith::io::inline v0 {
namespace {

/// Throws BadData unless the array is rows x columns of single bytes.
void require_bits(const NpyHeader& header, const std::string& what) {
  if (header.type != NumberType::u8 && header.type != NumberType::boolean) {
    throw BadData(
        fmt::format("{}: holds {}, but rows of bits are an array of uint8 with 8 bits in each value (as "
                    "numpy.packbits writes) or of bool",
                    what, name_of(header.type)));
  }
  if (header.shape.size() != 2) {
    throw BadData(fmt::format("{}: the array has {} dimensions, shape ({}); rows of bits have shape (rows, {})", what,
                              header.shape.size(), fmt::join(header.shape, ", "),
                              header.type == NumberType::u8 ? "bytes" : "bits"));
  }
  const std::uint64_t most = header.type == NumberType::u8 ? BitIndex::kMostBits / 8 : BitIndex::kMostBits;
  if (header.shape[1] == 0 || header.shape[1] > most) {
    throw BadData(
        fmt::format("{}: the array has {} columns, but rows of bits have 1 to {}", what, header.shape[1], most));
  }
}

/// The rows [first_row, first_row + rows) of the array, row by row.
void read_row_major(const runtime::InputFile& file, const NpyHeader& header, std::uint64_t first_row,
                    std::uint64_t rows, std::vector<std::uint8_t>& out) {
  const std::uint64_t columns = header.shape[1];
  out.resize(rows * columns);
  if (!header.fortran_order) {
    file.read_exact(header.data_offset + first_row * columns, out.data(), out.size());
    return;
  }
  std::vector<std::uint8_t> column(rows);
  for (std::uint64_t c = 0; c < columns; ++c) {
    file.read_exact(header.data_offset + c * header.shape[0] + first_row, column.data(), rows);
    for (std::uint64_t i = 0; i < rows; ++i) out[i * columns + c] = column[i];
  }
}

BitFile read(const runtime::InputFile& file, const ProgressCallback& progress) {
  const NpyHeader header = read_npy_header(file, 0, file.size(), file.name());
  require_bits(header, file.name());
  const std::uint64_t columns = header.shape[1];
  const bool is_packed = header.type == NumberType::u8;
  BitFile bits;
  bits.rows = header.shape[0];
  bits.bits = static_cast<std::uint32_t>(is_packed ? columns * 8 : columns);
  const std::uint64_t row_bytes = (bits.bits + 7) / 8;
  runtime::require_memory(bits.rows * row_bytes, "the bits of " + file.name());
  bits.bytes.resize(bits.rows * row_bytes);
  constexpr std::uint64_t kBytesAtOnce = std::uint64_t{16} << 20;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kBytesAtOnce / columns);
  std::vector<std::uint8_t> values;
  for (std::uint64_t first = 0; first < bits.rows; first += at_once) {
    const std::uint64_t rows = std::min(at_once, bits.rows - first);
    read_row_major(file, header, first, rows, values);
    std::uint8_t* to = bits.bytes.data() + first * row_bytes;
    if (is_packed) {
      std::copy(values.begin(), values.end(), to);
    } else {
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < columns; ++j) {
          if (values[i * columns + j] != 0) to[i * row_bytes + j / 8] |= static_cast<std::uint8_t>(0x80 >> j % 8);
        }
      }
    }
    if (progress && !progress({"reading", (first + rows) * columns, bits.rows * columns})) throw Interrupted();
  }
  return bits;
}

}  // namespace

BitFile read_bits(const std::string& path, const ProgressCallback& progress) {
  const runtime::InputFile file(path, progress);
  try {
    return read(file, progress);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

}  // namespace kith::io::inline v0
