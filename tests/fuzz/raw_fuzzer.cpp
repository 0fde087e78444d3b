// Feeds arbitrary bytes to the reader of plain numbers and Fortran records; the first line is the layout.
#include "fuzz_reader.hpp"

#include <algorithm>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string layout(text.substr(0, text.find('\n')));
  const std::size_t used = std::min(size, layout.size() + 1);
  return kith::fuzz::feed_points(data + used, size - used, "fuzz.bin",
                                 [&](const kith::runtime::InputFile& file, kith::io::ReadOptions options) {
                                   options.layout = layout;
                                   return kith::io::read_points(file, options);
                                 });
}
