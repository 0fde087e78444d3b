// Writes a text that is complete.
#include <kith/io/text_file.hpp>

#include "runtime/output_file.hpp"

namespace kith::io::inline v0 {

void write_text(const std::string& path, std::string_view text) {
  runtime::OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace kith::io::inline v0
