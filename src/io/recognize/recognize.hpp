// Tells what a file holds from its first bytes, then from its name: a format that kith reads, or which kind it does
// not.
#pragma once

#include "runtime/input_file.hpp"

#include <kith/io/format.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// The format to read `file` with. Throws CorruptFile that names the format if it is one that kith does not read, or if
/// content and extension disagree.
Format recognize(const runtime::InputFile& file);

/// `automatic` if the first bytes are built like none of them.
Format format_of_structure(std::string_view head, const runtime::InputFile& file);

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
