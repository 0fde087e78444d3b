// See write_sequences.hpp.
#include <kith/io/write_sequences.hpp>

#include "runtime/output_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kith::io::inline v0 {

void write_sequences(const std::string& path, const SequenceFile& file, std::span<const std::uint32_t> rows) {
  runtime::OutputFile out(path);
  for (const std::uint32_t row : rows) {
    if (!file.names.empty()) out.write(fmt::format(">{}\n", file.names[row]));
    const bool is_set = file.sequences.kind() == SequenceKind::sets;
    out.write(is_set ? fmt::format("{}", fmt::join(file.sequences.sequence(row), " ")) : file.sequences.string(row));
    out.write("\n");
  }
  out.commit();
}

}  // namespace kith::io::inline v0
