// Files of well-known kinds that hold no points that kith reads: what they are, and the command that converts them.
#pragma once

#include "runtime/input_file.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// One such kind.
struct ForeignKind {
  std::string_view what;  ///< "a Parquet table"
  std::string_view
      advice;  ///< what to do, with "{}" where the name of the file goes; "$ " begins a command that converts it
};

/// By the first bytes of the file: images, archives, databases, tables of other programs.
std::optional<ForeignKind> foreign_by_magic(std::string_view head);
/// By the structure of the first bytes: JSON, FASTA, tar, meshes, records of Fortran and others that have no magic.
std::optional<ForeignKind> foreign_by_structure(std::string_view head, const runtime::InputFile& file);

/// "FILE: is a Parquet table, which kith does not read; convert it: …"
std::string refusal_of(const ForeignKind& kind, const std::string& file_name);

}  // namespace kith::io::inline v0
