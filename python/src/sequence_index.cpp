// SequenceIndex.
#include "any_index.hpp"
#include "module.hpp"
#include "object_items.hpp"

#include <kith/index_file.hpp>
#include <kith/sequence_index.hpp>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

SequenceIndex build(const SequenceSet& sequences, const std::string& metric, const std::string& engine,
                    const std::string& device, std::uint32_t leaf_size, std::uint64_t expected_queries, int threads,
                    nb::object progress) {
  Watch watch(std::move(progress));
  BuildOptions options = object_options(engine, device, leaf_size, expected_queries, threads);
  options.progress = watch.callback();
  const SequenceMetric measured_by = parse_sequence_metric(metric);
  return watch.run([&] { return SequenceIndex::build(sequences, measured_by, options); });
}

std::string index_content(const std::string& path) {
  Watch watch;
  return std::string(watch.run([&] { return name_of(describe_index_file(path).content); }));
}

std::string bytes_content(const nb::object& content) {
  const Buffer buffer(content);
  return std::string(name_of(content_of_index(buffer.bytes())));
}

}  // namespace

void bind_sequence_index(nb::module_& module) {
  nb::class_<SequenceIndex> index(module, "SequenceIndex");
  index.def_static("build", &build, "sequences"_a, "metric"_a, nb::kw_only(), "engine"_a = "auto", "device"_a = "auto",
                   "leaf_size"_a = 0, "expected_queries"_a = 0, "threads"_a = 0, "progress"_a = nb::none());
  bind_any_index<ObjectQueries<SequenceSet>>(index);
  index.def("objects", [](const SequenceIndex& self) { return python_objects(self.sequences()); });
  index.def_prop_ro("kind", [](const SequenceIndex& self) { return std::string(name_of(self.kind())); });
  index.def_prop_ro("metric", [](const SequenceIndex& self) { return std::string(name_of(self.metric())); });
  module.def("index_content", &index_content, "path"_a);
  module.def("bytes_content", &bytes_content, "content"_a);
}

}  // namespace kith::python
