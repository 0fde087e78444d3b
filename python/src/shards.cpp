// Shards for transports that are written in Python (kith.dask): what travels is bytes, the rest is the library's.
#include "arrays.hpp"
#include "module.hpp"
#include "option_words.hpp"
#include "shard_arguments.hpp"
#include "watched_call.hpp"

#include <kith/error.hpp>
#include <kith/shards/cut.hpp>
#include <kith/shards/search.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using namespace kith::shards;

nb::bytes python_bytes(const Bytes& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

template <typename Message>
Message message_of(const nb::handle& content) {
  const Buffer buffer(content);
  return Message::from_bytes(buffer.bytes());
}

template <typename Message>
std::vector<Message> messages_of(const nb::list& contents) {
  std::vector<Message> messages;
  for (const nb::handle content : contents) messages.push_back(message_of<Message>(content));
  return messages;
}

/// Rules of a cut by their names, as Python keeps them.
CutRules rules_of(const nb::dict& given) {
  CutRules rules;
  rules.shards = nb::cast<std::uint32_t>(given["shards"]);
  rules.metric = Metric::parse(nb::cast<std::string>(given["metric"]));
  rules.metric_params = nb::cast<std::vector<double>>(given["metric_params"]);
  rules.period = nb::cast<std::vector<double>>(given["period"]);
  rules.skip_nonfinite = nb::cast<bool>(given["skip_nonfinite"]);
  return rules;
}

nb::bytes facts_of(const nb::object& points, std::uint64_t first_number, const nb::dict& rules, int threads) {
  const Rows rows(points, "points");
  const CutRules cut = rules_of(rules);
  Watch watch;
  return python_bytes(watch.run([&] {
    return PointFacts::of({rows.view(), {}, first_number}, cut, threads).to_bytes();
  }));
}

nb::bytes joined_facts(const nb::list& parts) {
  const PointFacts facts = PointFacts::joined(messages_of<PointFacts>(parts));
  facts.require_good();
  return python_bytes(facts.to_bytes());
}

/// Of the plan, which travels as bytes, only what goes on is kept here.
CutPlan plan_of(const nb::bytes& facts, const nb::dict& rules) {
  return CutPlan(message_of<PointFacts>(facts), rules_of(rules));
}

/// The points that a chunk has, while they are cut.
class ChunkCutter {
 public:
  ChunkCutter(const nb::object& points, std::uint64_t first_number, const nb::dict& rules, int threads)
      : array_(points), rows_(points, "points"), cutter_({rows_.view(), {}, first_number}, rules_of(rules), threads) {}

  nb::object counts(const CutPlan& plan) {
    Watch watch;
    return numpy_int64(watch.run([&] { return cutter_.counts(plan); }));
  }
  /// A message for each shard.
  nb::list points(const CutPlan& plan) {
    Watch watch;
    nb::list parts;
    for (std::uint32_t shard = 0; shard < plan.shards(); ++shard) {
      parts.append(python_bytes(watch.run([&] { return cutter_.points_of(plan, shard).to_bytes(); })));
    }
    return parts;
  }

 private:
  nb::object array_;  // whose rows are read
  Rows rows_;
  PointCutter cutter_;
};

Shard build_shard(const nb::list& parts, const nb::dict& rules, const std::string& engine, const std::string& device,
                  std::uint32_t leaf_size, int threads) {
  std::vector<ShardPoints> points = messages_of<ShardPoints>(parts);
  const CutRules cut = rules_of(rules);
  BuildOptions options;
  options.engine = parse_engine(engine);
  options.device = Device::parse(device);
  options.leaf_size = leaf_size;
  options.threads = threads;
  Watch watch;
  options.progress = watch.callback();
  return watch.run([&] { return Shard::build(std::move(points), cut, options); });
}

nb::bytes points_of_shard(const Shard& shard, int threads) {
  Watch watch;
  return python_bytes(watch.run([&] {
    return ShardPoints{shard.points(threads), {shard.numbers().begin(), shard.numbers().end()}}.to_bytes();
  }));
}

nb::bytes answer(const Shard& shard, const nb::bytes& request, const std::optional<Values<std::uint64_t>>& allowed,
                 int threads) {
  const SearchRequest asked = message_of<SearchRequest>(request);
  Watch watch;
  return python_bytes(watch.run([&] {
    std::vector<std::uint64_t> here;
    if (allowed) here = shard.allowed_here(span_of(*allowed));
    return shard.answer(asked, {.allowed = here, .threads = threads, .progress = watch.callback()}).to_bytes();
  }));
}

nb::bytes map_of(const nb::bytes& facts, const nb::dict& rules, const nb::list& shards) {
  return python_bytes(
      ShardMap(message_of<PointFacts>(facts), rules_of(rules), messages_of<ShardFacts>(shards)).to_bytes());
}

/// (dtype, dims, rows, rows that are searched).
nb::tuple describe_facts(const nb::bytes& content) {
  const PointFacts facts = message_of<PointFacts>(content);
  return nb::make_tuple(std::string(name_of(facts.dtype)), facts.dims, facts.rows, facts.searched);
}

/// The queries of one chunk, or the points of one shard, on their way through all shards.
class QuerySearch {
 public:
  /// `kind` is "knn" with k, "radius" or "count" with radii; `number` is that of the shard whose points ask, if
  /// `queries` is a Shard.
  QuerySearch(const nb::bytes& map, const std::string& kind, const nb::object& queries, std::uint32_t number,
              std::uint32_t k, const std::optional<Values<double>>& radii, const nb::dict& options)
      : map_(message_of<ShardMap>(map)), radii_(radii), options_(options) {
    const SearchQueries asked = queries_of(queries, number);
    Watch watch;
    watch.run([&] {
      if (kind == "knn") {
        search_.emplace<KnnSearch>(map_, asked, k, options_.options());
      } else {
        const Radii wanted = radii_of(radii_);
        if (kind == "radius") {
          search_.emplace<RadiusSearch>(map_, asked, wanted, options_.options());
        } else {
          search_.emplace<CountSearch>(map_, asked, wanted, options_.options());
        }
      }
    });
  }
  QuerySearch(const QuerySearch&) = delete;
  QuerySearch& operator=(const QuerySearch&) = delete;

  /// {shard: message}; empty once there is nothing left to ask.
  nb::dict next() {
    Watch watch;
    const std::vector<SearchRequest> requests = watch.run([&] { return search().next(); });
    nb::dict messages;
    for (const SearchRequest& request : requests) messages[nb::int_(request.shard)] = python_bytes(request.to_bytes());
    return messages;
  }
  void take(const nb::bytes& reply) {
    SearchReply message = message_of<SearchReply>(reply);
    Watch watch;
    watch.run([&] { search().take(std::move(message)); });
  }
  /// (distances, numbers), with offsets for lists; (counts,).
  nb::tuple result() {
    if (auto* knn = std::get_if<KnnSearch>(&search_)) return python_neighbors(knn->result());
    if (auto* radius = std::get_if<RadiusSearch>(&search_)) return python_lists(radius->result());
    return nb::make_tuple(numpy_int64(std::get<CountSearch>(search_).result()));
  }

 private:
  SearchQueries queries_of(const nb::object& queries, std::uint32_t number) {
    if (nb::isinstance<Shard>(queries)) return SearchQueries(nb::cast<const Shard&>(queries), number);
    rows_.emplace(queries, "queries");
    return SearchQueries(rows_->view());
  }
  Search& search() {
    return std::visit(
        [](auto& held) -> Search& {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
            throw UsageError("no search");
          } else {
            return held;
          }
        },
        search_);
  }

  ShardMap map_;
  std::optional<Rows> rows_;
  std::optional<Values<double>> radii_;
  ShardOptions options_;
  std::variant<std::monostate, KnnSearch, RadiusSearch, CountSearch> search_;
};

}  // namespace

void bind_shards(nb::module_& module) {
  module.def("point_facts", &facts_of, "points"_a, "first_number"_a, "rules"_a, "threads"_a = 0);
  module.def("joined_facts", &joined_facts, "parts"_a);
  module.def("describe_facts", &describe_facts, "facts"_a);
  module.def("shard_map", &map_of, "facts"_a, "rules"_a, "shards"_a);

  nb::class_<CutPlan>(module, "CutPlan")
      .def_static("of", &plan_of, "facts"_a, "rules"_a)
      .def_static("from_bytes", [](const nb::bytes& content) { return message_of<CutPlan>(content); })
      .def("to_bytes", [](const CutPlan& self) { return python_bytes(self.to_bytes()); })
      .def(
          "take", [](CutPlan& self, const Values<std::uint64_t>& sums) { self.take(span_of(sums)); }, "sums"_a)
      .def_prop_ro("is_done", &CutPlan::is_done);
  nb::class_<ChunkCutter>(module, "ChunkCutter")
      .def(nb::init<const nb::object&, std::uint64_t, const nb::dict&, int>(), "points"_a, "first_number"_a, "rules"_a,
           "threads"_a = 0)
      .def("counts", &ChunkCutter::counts, "plan"_a)
      .def("points", &ChunkCutter::points, "plan"_a);
  nb::class_<Shard>(module, "Shard")
      .def_static("build", &build_shard, "parts"_a, "rules"_a, nb::kw_only(), "engine"_a = "auto", "device"_a = "auto",
                  "leaf_size"_a = 0, "threads"_a = 0)
      .def("facts", [](const Shard& self) { return python_bytes(self.facts().to_bytes()); })
      .def("points_message", &points_of_shard, "threads"_a = 0)
      .def("answer", &answer, "request"_a, "allowed"_a.none() = nb::none(), "threads"_a = 0)
      .def("numbers", [](const Shard& self) { return numpy_int64(self.numbers()); })
      .def("explain", [](const Shard& self) { return with_arguments(self.index().explain()); })
      .def_prop_ro("memory_bytes", &Shard::memory_bytes)
      .def("__len__", [](const Shard& self) { return self.numbers().size(); });
  nb::class_<QuerySearch>(module, "QuerySearch")
      .def(nb::init<const nb::bytes&, const std::string&, const nb::object&, std::uint32_t, std::uint32_t,
                    const std::optional<Values<double>>&, const nb::dict&>(),
           "map"_a, "kind"_a, "queries"_a, nb::kw_only(), "number"_a = 0, "k"_a = 0, "radii"_a.none() = nb::none(),
           "options"_a)
      .def("next", &QuerySearch::next)
      .def("take", &QuerySearch::take, "reply"_a)
      .def("result", &QuerySearch::result);
}

}  // namespace kith::python
