// Any bytes as a file of points to be classified: the reader answers or throws a typed error that says why, the same
// for every block size, and what it took fits together.
#include "io/results/class_file_read.hpp"

#include <kith/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace kith;

/// Everything that a caller can see of a reading.
struct Outcome {
  std::string error;
  std::string train;
  std::string fresh;
  io::ClassFile file;

  bool operator==(const Outcome& other) const {
    return error == other.error && train == other.train && fresh == other.fresh && file.classes == other.file.classes &&
           file.labels == other.file.labels && file.text == other.file.text && file.starts == other.file.starts &&
           file.ends == other.file.ends;
  }
};

std::string bytes_of(const PointSet& points) {
  return {static_cast<const char*>(points.view().data()), points.bytes()};
}

Outcome read(const runtime::InputFile& file, DType dtype, std::uint64_t block_bytes) {
  Outcome outcome;
  try {
    outcome.file = io::read_class_file_in_blocks(file, dtype, 1, {}, block_bytes);
    if (outcome.file.train.bytes() > 0) outcome.train = bytes_of(outcome.file.train);
    if (outcome.file.fresh.bytes() > 0) outcome.fresh = bytes_of(outcome.file.fresh);
  } catch (const Error& error) {
    outcome.error = error.what();
    if (outcome.error.ends_with("cannot be read")) std::abort();  // refused without a reason
    if (outcome.error.ends_with("too short")) std::abort();
  }
  return outcome;
}

void check(const io::ClassFile& file, const std::vector<char>& text) {
  const std::uint64_t rows = file.train.rows() + file.fresh.rows();
  if (file.text != text || file.starts.size() != rows || file.ends.size() != rows) std::abort();
  if (file.labels.size() != file.train.rows() || file.train.dims() != file.fresh.dims()) std::abort();
  for (const std::uint32_t label : file.labels) {
    if (label >= file.classes) std::abort();
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    const PointView view = row < file.train.rows() ? file.train.view() : file.fresh.view();
    const std::uint64_t number = row < file.train.rows() ? row : row - file.train.rows();
    for (std::uint32_t d = 0; d < view.dims(); ++d) {
      if (!std::isfinite(view.at(number, d))) std::abort();
    }
    // A row begins a line and its coordinates end at the comma before the class.
    if (file.starts[row] == 0 || text[file.starts[row] - 1] != '\n') std::abort();
    if (file.ends[row] >= text.size() || text[file.ends[row]] != ',') std::abort();
    const std::string_view rest(text.data() + file.ends[row] + 1, text.size() - file.ends[row] - 1);
    if (rest.substr(0, rest.find('\n')).find(',') != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> text(data, data + size);
  const runtime::InputFile file("fuzz", text);
  const DType dtype = size % 2 == 0 ? DType::f64 : DType::f32;
  const Outcome whole = read(file, dtype, 1 << 20);
  if (whole.error.empty()) check(whole.file, text);
  if (!(whole == read(file, dtype, 1 + size % 37))) std::abort();
  return 0;
}
