// The file formats that kith knows, and how they are recognised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::io {

/// `text` covers CSV, TSV, XYZ and any other separated numbers.
enum class Format : std::uint8_t { automatic, text, npy, npz, ply, pcd, las, fvecs, bvecs, ivecs, idx };

/// "auto", "text", "npy", "npz", "ply", "pcd", "las", "fvecs", "bvecs", "ivecs" or "idx".
std::string_view name_of(Format format);
/// The reverse of `name_of`; also takes "csv", "tsv" and "xyz" for text. Throws UsageError on anything else.
Format parse_format(std::string_view text);
/// What the extension of a path says (".gz" is looked through); `automatic` if it says nothing.
Format format_of_extension(std::string_view path);

}  // namespace kith::io
