// Index and file: save, load, and what a file says of itself. See kith/index.hpp and kith/index_file.hpp.
#include "core/dispatch.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/stored_index.hpp"
#include "engine/index_file/validate_section.hpp"
#include "engine/index_state.hpp"
#include "runtime/input_file.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace kith {
namespace {

using engine::IndexFile;
using engine::require_threads;
using engine::SectionId;

/// The caller's number of each point, if rows were left out: ascending and below the number of rows.
std::vector<std::uint32_t> load_original(const IndexFile& file) {
  const engine::IndexFacts& facts = file.facts();
  if (facts.points == facts.rows) {
    if (file.has(SectionId::original)) file.refuse("section original is there, but no row was left out");
    return {};
  }
  const auto original = file.values<std::uint32_t>(SectionId::original, facts.points);
  for (std::uint64_t i = 0; i < original.size() && !file.is_trusted(); ++i) {
    if (original[i] >= facts.rows || (i > 0 && original[i] <= original[i - 1])) {
      file.refuse(fmt::format("section original: entry {} is {}, which is not above the one before and below {}", i,
                              original[i], facts.rows));
    }
  }
  return {original.begin(), original.end()};
}

void load_point_searcher(IndexState& state, const engine::Choice& choice, const IndexFile& file,
                         const LoadOptions& options) {
  state.device = choice.device;
  state.reason = fmt::format("engine {}: that of {}, {}{}", name_of(state.engine), file.name(),
                             file.is_trusted() ? "mapped and not checked" : "loaded and checked",
                             choice.reason.substr(choice.reason.find('\n')));  // then why this device
  const engine::Backend& backend = engine::backend_of(choice.device);
  const engine::LoadRequest request{
      file, choice.device, state.period, {options.threads, &options.progress, options.times}};
  if (state.dtype == DType::f32) {
    state.searcher = backend.load<float>(request);
  } else {
    state.searcher = backend.load<double>(request);
  }
}

/// Moves the clean rows, which lie at the front, to the caller's places, last first, and fills the rows between.
template <typename T>
void spread_rows(const IndexState& state, std::span<T> values) {
  const std::uint64_t dims = state.dims;
  constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
  std::uint64_t end = state.rows;
  for (std::uint64_t i = state.clean; i-- > 0;) {
    const std::uint64_t row = state.original[i];
    if (row != i) std::memcpy(&values[row * dims], &values[i * dims], dims * sizeof(T));
    std::fill(values.data() + (row + 1) * dims, values.data() + end * dims, kNothing);
    end = row;
  }
  std::fill(values.data(), values.data() + end * dims, kNothing);
}

}  // namespace

namespace engine {

void PointFiles::write(const IndexState& state, const SaveOptions& options, const IndexFileWriter::Sink& sink) {
  IndexFileWriter writer({.engine = state.engine,
                          .metric = state.metric,
                          .dtype = state.dtype,
                          .dims = state.dims,
                          .rows = state.rows,
                          .points = state.clean,
                          .parameters = {}});
  const RunOptions run{options.threads, &options.progress};
  std::visit([&](const auto& searcher) { searcher->save(writer, run); }, state.searcher);
  if (state.left_out_rows()) writer.add(SectionId::original, std::span<const std::uint32_t>(state.original));
  std::vector<double> period = state.period;
  std::replace(period.begin(), period.end(), std::numeric_limits<double>::infinity(), 0.0);  // no infinity in files
  if (!period.empty()) writer.add(SectionId::period, std::span<const double>(period));
  const std::span<const double> params = state.preparation.params();
  if (!params.empty()) writer.add(SectionId::metric_params, params);
  writer.write(run, sink);
}

std::shared_ptr<const IndexState> PointFiles::load(const IndexFile& file, const LoadOptions& options) {
  require_content(file, IndexContent::points);
  const IndexFacts& facts = file.facts();
  if (!cpu_backend().has(facts.engine)) {
    throw CorruptFile(fmt::format("{}: was built with engine {}, which this kith does not have; build the index again",
                                  file.name(), name_of(facts.engine)));
  }
  const Device device = device_for(file, options.device);
  Choice choice = timed_choice(options.times, [&] {
    return choose_engine({.engine = facts.engine,
                          .device = device,
                          .points = facts.points,
                          .dims = facts.dims,
                          .queries = options.expected_queries,
                          .metric = facts.metric});
  });
  if (device != options.device) choice.fall_back("a mapped file is searched where it lies");
  auto state = std::make_shared<IndexState>();
  state->rows = facts.rows;
  state->clean = facts.points;
  state->dims = facts.dims;
  state->dtype = facts.dtype;
  state->metric = facts.metric;
  state->engine = facts.engine;
  state->original = load_original(file);
  state->period = load_period(file);
  state->preparation = load_preparation(file);
  make_or_fall_back(options.device, choice, options.times,
                    [&](const Choice& chosen) { load_point_searcher(*state, chosen, file, options); });
  return state;
}

}  // namespace engine
}  // namespace kith

namespace kith::inline v0 {

PointSet Index::points(int threads) const {
  require_threads(threads);
  PointSet points(state_->dtype, state_->rows, state_->dims);
  core::visit_dtype(state_->dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = points.values<T>();
    searcher_of<T>(*state_).copy_rows(values.data(), threads);
    if (state_->left_out_rows()) spread_rows(*state_, values);
  });
  return points;
}

std::string_view name_of(IndexContent content) {
  switch (content) {
    case IndexContent::points:
      return "points";
    case IndexContent::bits:
      return "bits";
    case IndexContent::sequences:
      break;
  }
  return "sequences";
}

bool is_index_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  std::array<unsigned char, engine::kIndexMagic.size()> head{};
  const ssize_t got = read(descriptor, head.data(), head.size());
  close(descriptor);
  return got == static_cast<ssize_t>(head.size()) && head == engine::kIndexMagic;
}

IndexContent content_of_index(std::span<const std::byte> bytes) {
  return IndexFile::read_front(bytes, "index in memory").facts.content;
}

IndexFileInfo describe_index_file(const std::string& path) {
  const engine::FrontMatter front = IndexFile::read_front(path);
  IndexFileInfo info;
  info.version = front.header.version;
  info.compatible_features = front.header.compatible_features;
  info.incompatible_features = front.header.incompatible_features;
  info.file_bytes = front.header.file_bytes;
  info.content = front.facts.content;
  info.engine = front.facts.engine;
  info.metric = front.facts.metric;
  info.sequence_metric = front.facts.sequence_metric;
  info.sequence_kind = front.facts.sequence_kind;
  info.metric_name = info.content == IndexContent::points ? info.metric.name() : name_of(info.sequence_metric);
  info.dtype = front.facts.dtype;
  info.dims = core::callers_dims(info.metric, front.facts.dims);
  info.rows = front.facts.rows;
  info.points = front.facts.points;
  if (info.engine != Engine::brute_force) info.leaf_size = front.facts.parameters[engine::kLeafSizeParameter];
  if (info.engine == Engine::kd_tree) {
    info.split = front.facts.parameters[engine::kSplitRuleParameter] == 0 ? "widest" : "cycle";
  }
  if (info.engine == Engine::cover_tree) {
    const bool is_by_lists = front.facts.parameters[engine::kSeparationParameter] != 0;
    info.builder = name_of(is_by_lists ? Builder::lists : Builder::batch);
  }
  for (const engine::SectionRecord& section : front.sections) {
    info.sections.push_back({std::string(engine::name_of(static_cast<SectionId>(section.id))), section.id,
                             section.element_bytes, section.count, section.offset, section.bytes()});
    const auto id = static_cast<SectionId>(section.id);
    if (id != SectionId::period && id != SectionId::metric_params) continue;
    std::vector<double>& values = id == SectionId::period ? info.period : info.metric_params;
    const std::uint64_t most = std::uint64_t{info.dims} * (id == SectionId::period ? 1 : info.dims);
    if (section.element_bytes != sizeof(double) || section.count > most) continue;  // loading refuses it
    values.resize(section.count);
    if (runtime::InputFile(path).read_at(section.offset, values.data(), section.bytes()) != section.bytes()) {
      throw CorruptFile(fmt::format("{}: ends within section {}", path, engine::name_of(id)));
    }
  }
  return info;
}

}  // namespace kith::inline v0
