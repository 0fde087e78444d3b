// kith plan: what a build and a search will take, before they are run.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"

#include <kith/error.hpp>
#include <kith/job_plan.hpp>
#include <kith/shards/shard_plan.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kMostCounted = 1000000000000;  // products of counts stay below 2^64
constexpr std::uint64_t kMostPlanDims = 4096, kMostPlanK = 65536;
constexpr std::uint64_t kMostPointsOfIndex = 0xfffffffe;

constexpr std::uint32_t kMostShards = 4096;

struct PlanFlags {
  JobRequest job;
  std::uint32_t shards = 0;  // 0: one index, or parts that are searched one after the other
  bool device_given = false;
  bool all = false;
  OutputFlags output;
};

std::string bytes(std::uint64_t count) { return readable_bytes(static_cast<double>(count)); }

std::string time(const std::optional<double>& ms) { return ms ? "about " + readable_duration(*ms) : "not measured"; }

std::string queries_of(const JobRequest& job) {
  if (!job.queries) return "the points as queries";
  return *job.queries == 1 ? "1 query" : counted(*job.queries, "query", "queries");
}

/// What the caller has to cut, or kith does.
std::string text_of_parts(const JobPlan& plan) {
  if (plan.parts == 1) return "all points in one index";
  const std::string parts =
      fmt::format("{} of up to {}", counted(plan.parts, "part"), counted(plan.points_per_part, "point"));
  if (plan.is_cut_by_kith) return parts + ", which each search takes to the GPU one after the other";
  return parts + ": an index each, searched with all queries; join the answers by (distance, index)";
}

std::string text_of_search(const JobPlan& plan) {
  if (plan.chunks == 0) return "no queries";
  const std::string peak = bytes(plan.search_bytes) + " at the peak";
  if (plan.chunks == 1) return peak + ", all queries at once";
  return fmt::format("{}, {} of up to {}", peak, counted(plan.chunks, plan.is_gpu ? "chunk" : "call"),
                     counted(plan.queries_per_chunk, "query", "queries"));
}

/// Of `points` points, all of them or those of a shard.
std::string text_of(const JobPlan& plan, std::uint64_t points) {
  std::string text = fmt::format("{}, {}\n", plan.device, plan.reason);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<7} {}\n", name, value);
  };
  const bool is_known = plan.memory_bytes > 0;
  line("memory",
       fmt::format("{}; {} needed at least{}", is_known ? bytes(plan.memory_bytes) : "unknown",
                   bytes(plan.needed_bytes), points > kMostPointsOfIndex ? " for each of the fewest parts" : ""));
  if (plan.parts == 0) {
    line("parts", "not even one point fits");
    return text;
  }
  line("parts", text_of_parts(plan));
  line("index", bytes(plan.index_bytes));
  line("build", bytes(plan.build_bytes) + " at the peak");
  line("search", text_of_search(plan));
  line("host", fmt::format("{} with points, queries and answers", bytes(plan.host_bytes)));
  line("time",
       fmt::format("build {}, search {}", time(plan.build_ms), plan.chunks == 0 ? "0 ms" : time(plan.search_ms)));
  return text;
}

std::string text_of_messages(const shards::ShardPlan& plan) {
  std::string text = fmt::format("{}, each on a device of its own; sent in all\n", counted(plan.shards, "shard"));
  text += fmt::format("  build   {} of points go elsewhere once; at most {}, {} of sums at each shard\n",
                      bytes(plan.moved_bytes), counted(plan.rounds, "round"), bytes(plan.sum_bytes));
  text += fmt::format("  search  a query asks {:.4g} shards; {} of queries and {} of answers in {}\n", plan.asked,
                      bytes(plan.query_bytes), bytes(plan.answer_bytes), counted(plan.messages, "message"));
  return text;
}

std::string table_of(const std::vector<JobPlan>& plans) {
  using Row = std::array<std::string, 9>;
  std::vector<Row> rows = {{"device", "engine", "memory", "parts", "index", "build", "search", "chunks", "time"}};
  for (const JobPlan& plan : plans) {
    Row row = {plan.device, std::string(name_of(plan.engine)), bytes(plan.memory_bytes), "does not fit"};
    if (plan.parts > 0) {
      row = {row[0],
             row[1],
             row[2],
             readable_count(plan.parts),
             bytes(plan.index_bytes),
             bytes(plan.build_bytes),
             bytes(plan.search_bytes),
             readable_count(plan.chunks),
             plan.build_ms && plan.search_ms ? time(*plan.build_ms + *plan.search_ms) : time({})};
    }
    rows.push_back(row);
  }
  std::array<std::size_t, 9> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

ordered_json json_of(const JobPlan& plan) {
  ordered_json json;
  json["device"] = plan.device;
  json["engine"] = name_of(plan.engine);
  json["reason"] = plan.reason;
  json["memory_bytes"] = plan.memory_bytes;
  json["needed_bytes"] = plan.needed_bytes;
  json["parts"] = plan.parts;
  json["points_per_part"] = plan.points_per_part;
  json["cut_by"] = plan.is_cut_by_kith ? "kith" : "caller";
  json["index_bytes"] = plan.index_bytes;
  json["build_bytes"] = plan.build_bytes;
  json["search_bytes"] = plan.search_bytes;
  json["chunks"] = plan.chunks;
  json["queries_per_chunk"] = plan.queries_per_chunk;
  json["host_bytes"] = plan.host_bytes;
  json["estimated_build_ms"] = plan.build_ms ? ordered_json(*plan.build_ms) : ordered_json();
  json["estimated_search_ms"] = plan.search_ms ? ordered_json(*plan.search_ms) : ordered_json();
  return json;
}

JobPlan plan_of(const JobRequest& job, std::uint32_t shards) {
  return shards == 0 ? plan_job(job) : shards::plan_shards(job, shards).of_shard;
}

std::vector<JobPlan> plans_of(const PlanFlags& flags) {
  if (!flags.all) return {plan_of(flags.job, flags.shards)};
  if (flags.device_given) throw UsageError("--device does not go with --all, which plans for every card");
  JobRequest job = flags.job;
  job.device = Device::cpu();
  std::vector<JobPlan> plans = {plan_of(job, flags.shards)};
  for (const GpuCard& card : known_cards()) {
    job.card = &card;
    plans.push_back(plan_of(job, flags.shards));
  }
  return plans;
}

ordered_json json_of(const shards::ShardPlan& plan) {
  ordered_json json;
  json["shards"] = plan.shards;
  json["rounds"] = plan.rounds;
  json["sum_bytes"] = plan.sum_bytes;
  json["moved_bytes"] = plan.moved_bytes;
  json["asked"] = plan.asked;
  json["messages"] = plan.messages;
  json["query_bytes"] = plan.query_bytes;
  json["answer_bytes"] = plan.answer_bytes;
  return json;
}

int run_plan(const PlanFlags& flags) {
  const JobRequest& job = flags.job;
  const std::vector<JobPlan> plans = plans_of(flags);
  if (flags.output.json) {
    ordered_json json;
    json["points"] = job.points;
    json["dims"] = job.dims;
    json["dtype"] = name_of(job.dtype);
    json["k"] = job.k;
    json["queries"] = job.queries.value_or(job.points);
    json["self"] = !job.queries;
    if (flags.shards > 0) json["of_shards"] = json_of(shards::plan_shards(job, flags.shards));
    for (const JobPlan& plan : plans) json["plans"].push_back(json_of(plan));
    write_to_stdout(json.dump(2) + "\n");
    return 0;
  }
  std::string text = fmt::format("{} of {} ({}), {}, k = {}\n", counted(job.points, "point"),
                                 counted(job.dims, "dimension"), name_of(job.dtype), queries_of(job), job.k);
  if (flags.shards > 0) {
    text += text_of_messages(shards::plan_shards(job, flags.shards));
    text += flags.all ? "each shard\n" : "each shard: ";
  } else if (job.points > kMostPointsOfIndex) {
    text += fmt::format("one index holds at most {} points: the job is planned in parts\n",
                        readable_count(kMostPointsOfIndex));
  }
  write_to_stdout(text +
                  (flags.all ? table_of(plans) : text_of(plans.front(), job.points / std::max(flags.shards, 1u))));
  return 0;
}

std::string names_of_cards() {
  std::string names;
  for (const GpuCard& card : known_cards()) names += (names.empty() ? "" : ", ") + std::string(card.name);
  return names;
}

void take_device(PlanFlags& flags, const std::string& value) {
  flags.device_given = true;
  flags.job.card = nullptr;
  try {
    if (value == "auto" || value == "cpu" || value.starts_with("cuda")) {
      flags.job.device = Device::parse(value);
    } else {
      flags.job.card = &card_named(value);
    }
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--device: {}", error.what()));
  }
}

}  // namespace

Command plan_command() {
  const auto flags = std::make_shared<PlanFlags>();
  Command command;
  command.name = "plan";
  command.summary = "say what a build and a search will take";
  command.synopsis = "--points N [--dims D] [--k K] [--queries N] [--device NAME] [--memory BYTES] [flags]";
  command.description =
      "Says how much memory building an index and searching it will take, and in how many chunks, on this machine or "
      "on "
      "a GPU that need not be there. Nothing is read or allocated. Memory is computed by the formulas that the build "
      "itself uses. Times are estimates from stored measurements of such jobs with uniform points, without copies to "
      "and from a GPU; where there are none, they are left out.";
  command.groups = {
      {"The job",
       {{"-n,--points", "N", "number of points: 1000, 1e6, 100k, 2M",
         [flags](const std::string& value) { flags->job.points = parse_whole("--points", value, 0, kMostCounted); },
         true},
        whole_flag("-d,--dims", "D", "coordinates per point, 1 to 4096; 3 by default", flags->job.dims, 1,
                   kMostPlanDims),
        dtype_flag("the type of the coordinates; f32 by default", [flags](DType dtype) { flags->job.dtype = dtype; }),
        whole_flag("-k,--k", "K", "number of neighbours, up to 65536; 8 by default", flags->job.k, 0, kMostPlanK),
        {"--queries", "N", "number of queries; by default the points themselves are the queries",
         [flags](const std::string& value) { flags->job.queries = parse_whole("--queries", value, 0, kMostCounted); }},
        engine_flag(flags->job.engine),
        builder_flag(flags->job.builder)}},
      {"Where it runs",
       {{"--device", "auto|cpu|cuda|NAME",
         "a device of this machine, or a card by its name: " + names_of_cards() + "; auto by default",
         [flags](const std::string& value) { take_device(*flags, value); }},
        {"--memory", "BYTES", "plan with so much memory of the device: 40GB, 16GiB; by default all that it has",
         [flags](const std::string& value) { flags->job.memory_bytes = parse_bytes("--memory", value); }},
        {"--all", "", "a table: the CPU of this machine and every card", &flags->all},
        whole_flag("--shards", "N",
                   "cut the points into so many shards, each on such a device of its own, and count what they send",
                   flags->shards, 1, kMostShards),
        json_flag(flags->output, "print the plan as JSON")}}};
  command.examples = {
      {"will 2 billion points fit on an H200?", "kith plan --points 2e9 --queries 1e9 --k 8 --device H200"},
      {"which card suffices?", "kith plan --points 500M --dims 3 --all"},
      {"ten billion points on 16 cards", "kith plan --points 1e10 --shards 16 --device H200"},
      {"what 16 GiB of host memory mean", "kith plan --points 1e9 --device cpu --memory 16GiB"}};
  command.run = [flags] { return run_plan(*flags); };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
