// Any bytes as a text file: the reader answers or throws a typed error, and says the same for every block size.
#include "io/formats.hpp"
#include "io/text/text_reader.hpp"

#include <kith/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace kith;

/// Everything that a caller can see of a reading.
struct Outcome {
  std::string error;
  std::string points;
  std::uint64_t rows = 0;
  std::uint32_t dims = 0;
  std::vector<std::string> columns;
  std::vector<std::string> names;
  std::vector<std::uint32_t> codes;
  std::uint64_t comments = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome read(const runtime::InputFile& file, const io::ReadOptions& options, std::uint64_t block_bytes) {
  Outcome outcome;
  try {
    io::PointFile result = io::read_text_in_blocks(file, options, block_bytes);
    outcome.rows = result.points.rows();
    outcome.dims = result.points.dims();
    outcome.points.assign(static_cast<const char*>(result.view().data()), result.points.bytes());
    outcome.columns = result.columns;
    outcome.comments = result.text->comment_lines;
    if (result.labels) {
      outcome.names = result.labels->names;
      outcome.codes = result.labels->codes;
    }
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const unsigned choice = data[0];
  io::ReadOptions options;
  options.threads = 1;
  options.dtype = choice & 1 ? DType::f32 : DType::f64;
  options.missing_as_nan = (choice & 2) != 0;
  if (choice & 4) options.label = choice & 8 ? "last" : "1";
  if (choice & 16) options.columns = {"2", "x"};
  if (choice & 32) options.header = (choice & 64) != 0;
  if (choice & 128) options.decimal = choice & 64 ? '.' : ',';
  constexpr char kDelimiters[] = {0, 0, ',', ';', ' ', '\t', ':', 'e'};
  options.delimiter = kDelimiters[data[1] % 8];
  const std::uint64_t small_block = 1 + data[1] / 8;

  const runtime::InputFile file("fuzz", std::vector<char>(data + 2, data + size));
  if (!(read(file, options, 1 << 20) == read(file, options, small_block))) std::abort();
  return 0;
}
