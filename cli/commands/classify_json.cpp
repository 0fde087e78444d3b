// The report of kith classify for programs. See classify_report.hpp.
#include "commands/classify_report.hpp"

#include "prepared_search.hpp"

#include <nlohmann/json.hpp>

namespace kith::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const apps::KChoice& choice, const ClassifyFlags& flags, std::uint64_t points) {
  Json json;
  json["best"] = choice.best;
  json["folds"] = flags.folds.value_or(0);
  json["table"] = Json::array();
  for (std::size_t i = 0; i < choice.right.size(); ++i) {
    json["table"].push_back({{"k", choice.least + i},
                             {"right", choice.right[i]},
                             {"accuracy", static_cast<double>(choice.right[i]) / static_cast<double>(points)}});
  }
  for (std::size_t i = 0; i < choice.error.size(); ++i) {
    json["table"].push_back({{"k", choice.least + i}, {"error", choice.error[i]}});
  }
  return json;
}

Json json_of(const LabelVerdict& verdict, const ClassifyInput& input) {
  Json json;
  json["rows"] = verdict.score.rows;
  json["right"] = verdict.score.right;
  json["accuracy"] = verdict.score.accuracy();
  json["rows_of_unknown_classes"] = verdict.of_no_known_class;
  json["rows_without_label"] = input.truth.size() - verdict.score.rows;
  json["classes"] = Json::array();
  for (std::size_t label = 0; label < verdict.score.classes.size(); ++label) {
    const apps::ClassScore& own = verdict.score.classes[label];
    json["classes"].push_back({{"class", input.names[label]},
                               {"members", own.members},
                               {"predicted", own.predicted},
                               {"right", own.right},
                               {"precision", own.precision()},
                               {"recall", own.recall()},
                               {"f1", own.f1()}});
  }
  json["confusion"] = Json::array();
  for (const apps::Confusion& pair : verdict.confusion) {
    json["confusion"].push_back(
        {{"truth", input.names[pair.truth]}, {"predicted", input.names[pair.predicted]}, {"rows", pair.rows}});
  }
  return json;
}

Json json_of(const apps::ValueScore& score) {
  return {{"rows", score.rows},
          {"mean_absolute_error", score.mean_absolute_error},
          {"root_mean_squared_error", score.root_mean_squared_error},
          {"largest_error", score.largest_error},
          {"r_squared", score.r_squared}};
}

}  // namespace

std::string json_of_work(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  const apps::NeighborWork& done = flags.classifies() ? work.neighbors : work.choice->work;
  Json json;
  json["points"] = input.points.rows();
  json["new_points"] = input.queries.rows();
  json["skipped_points"] = input.points_left_out;
  json["skipped_new_points"] = input.queries_left_out;
  json["dims"] = input.points.dims();
  json["dtype"] = name_of(input.points.dtype());
  if (!flags.is_regression()) json["classes"] = input.classes;
  if (!flags.is_regression()) json["mode"] = flags.is_sequential() ? "sequential" : "independent";
  json["k"] = work.k;
  json["weights"] = apps::name_of(flags.neighbors.weights);
  if (!flags.is_regression()) json["ties"] = apps::name_of(flags.neighbors.ties);
  json["metric"] = flags.neighbors.metric.name();
  json["scale"] = apps::name_of(flags.scaling);
  json["engine"] = name_of(done.engine);
  json["device"] = done.device.name();
  json["threads"] = threads_in_use(flags.neighbors.threads);
  if (flags.classifies() && flags.is_sequential()) {
    json["depth"] = work.depth;
    json["rounds"] = work.rounds;
  }
  json["checked"] = flags.check;
  if (work.choice) json["choice"] = json_of(*work.choice, flags, input.points.rows());
  if (work.labels) json["score"] = json_of(*work.labels, input);
  if (work.values) json["score"] = json_of(*work.values);
  json["read_ms"] = input.read_ms;
  json["scale_ms"] = input.scale_ms;
  json["choose_ms"] = work.choose_ms;
  json["build_ms"] = done.build_ms;
  json["search_ms"] = done.search_ms;
  json["vote_ms"] = done.vote_ms;
  json["check_ms"] = work.check_ms;
  json["write_ms"] = work.write_ms;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kith::cli
