// Decompresses a file of zstd frames; which of zstd_present.cc and zstd_absent.cc is built decides whether that works.
#pragma once

#include "runtime/input_file.hpp"

#include <kith/progress.hpp>

#include <vector>

namespace kith::runtime {

/// Whether a file begins with a frame of zstd.
inline bool begins_as_zstd(const unsigned char (&magic)[4]) {
  return magic[0] == 0x28 && magic[1] == 0xB5 && magic[2] == 0x2F && magic[3] == 0xFD;
}

/// All frames of `file`, one after the other. Throws CorruptFile if a frame is damaged, cut short or needs more memory
/// to decompress than the format asks readers to have, or if this build has no libzstd.
std::vector<char> decompress_zstd(const InputFile& file, const ProgressCallback& progress);

}  // namespace kith::runtime
