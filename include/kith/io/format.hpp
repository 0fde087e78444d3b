// The file formats that kith knows, and how they are recognised.
#pragma once

#include <kith/export.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// `text` covers CSV, TSV, XYZ and any other separated numbers; `extxyz` is XYZ whose comment names the columns, or of
/// several frames; `vtk` is legacy and XML; `raw` is plain numbers and Fortran records, as `ReadOptions::layout` says.
enum class Format : std::uint8_t {
  automatic,
  text,
  npy,
  npz,
  ply,
  pcd,
  las,
  fvecs,
  bvecs,
  ivecs,
  idx,
  pdb,
  gro,
  extxyz,
  lammps,
  vtk,
  raw
};

/// All names that `parse_format` takes, "auto" first.
KITH_EXPORT std::span<const std::string_view> format_names();
/// The name of a format: "text", "npy", "ply", …
KITH_EXPORT std::string_view name_of(Format format);
/// The reverse of `name_of`; also takes "csv", "tsv" and "xyz" for text. Throws UsageError on anything else.
KITH_EXPORT Format parse_format(std::string_view text);
/// What the extension of a path says (".gz" and ".zst" are looked through); `automatic` if it says nothing.
KITH_EXPORT Format format_of_extension(std::string_view path);

}  // namespace kith::io::inline v0
