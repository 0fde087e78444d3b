// kith info: what a file of points, an index file, a folder of shards or a tree holds, and which devices there are.
#include "commands/all_commands.hpp"

#include "commands/info_sequences.hpp"

#include "input_flags.hpp"
#include "output_flags.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/summarize.hpp>
#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/index_file.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/shards/stored_shards.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <string_view>
#include <variant>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kBoundsShown = 8;
constexpr std::size_t kLabelsShown = 10;

struct InfoFlags {
  std::string path;
  bool devices = false;
  io::ReadOptions read;
  SequenceFlags sequences;
  Metric metric = Metric::l2();  // only to tell points from strings and sets
  OutputFlags output;
};

std::vector<std::uint64_t> rows_per_label(const io::Labels& labels) {
  std::vector<std::uint64_t> rows(labels.names.size());
  for (const std::uint32_t code : labels.codes) ++rows[code];
  return rows;
}

ordered_json json_of(const io::PointFile& file, const apps::Summary& summary) {
  ordered_json report;
  report["format"] = io::name_of(file.format);
  report["points"] = summary.points;
  report["dims"] = summary.dims;
  report["dtype"] = name_of(summary.dtype);
  report["nonfinite"] = summary.nonfinite;
  report["duplicates"] = summary.duplicates;
  report["lower"] = summary.lower;
  report["upper"] = summary.upper;
  report["bytes"] = summary.bytes;
  report["columns"] = file.columns;
  if (file.text) {
    report["header_line"] = file.text->header_line ? ordered_json(*file.text->header_line) : ordered_json(nullptr);
    report["names_line"] = file.text->names_line ? ordered_json(*file.text->names_line) : ordered_json(nullptr);
    report["comment_lines"] = file.text->comment_lines;
    report["delimiter"] = std::string(1, file.text->delimiter);
    report["decimal"] = std::string(1, file.text->decimal);
  }
  if (file.labels) {
    const std::vector<std::uint64_t> rows = rows_per_label(*file.labels);
    ordered_json labels = ordered_json::array();
    for (std::size_t i = 0; i < rows.size(); ++i)
      labels.push_back({{"label", file.labels->names[i]}, {"points", rows[i]}});
    report["labels"] = labels;
  }
  return report;
}

std::string bounds_text(const io::PointFile& file, const apps::Summary& summary) {
  if (summary.lower.empty()) return "";
  std::string text = "bounds\n";
  for (std::uint32_t d = 0; d < std::min(summary.dims, kBoundsShown); ++d) {
    const std::string name = d < file.columns.size() ? file.columns[d] : std::to_string(d + 1);
    text += fmt::format("  {:<12} {:>14.7g} to {:.7g}\n", name, summary.lower[d], summary.upper[d]);
  }
  if (summary.dims > kBoundsShown)
    text += fmt::format("  and {} more; --json shows all\n", summary.dims - kBoundsShown);
  return text;
}

std::string labels_text(const io::Labels& labels) {
  const std::vector<std::uint64_t> rows = rows_per_label(labels);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] > rows[b]; });
  std::string text = fmt::format("labels        {} different\n", readable_count(rows.size()));
  for (std::size_t i = 0; i < std::min(order.size(), kLabelsShown); ++i) {
    text += fmt::format("  {:<12} {:>14}\n", labels.names[order[i]], readable_count(rows[order[i]]));
  }
  if (order.size() > kLabelsShown)
    text += fmt::format("  and {} more; --json shows all\n", order.size() - kLabelsShown);
  return text;
}

std::string text_of(const std::string& path, const io::PointFile& file, const apps::Summary& summary) {
  std::string text = fmt::format("file          {}\nformat        {}\n", path == "-" ? "standard input" : path,
                                 io::name_of(file.format));
  if (file.text) {
    text += fmt::format("header        {}\ncomments      {}\n", header_text(*file.text),
                        counted(file.text->comment_lines, "line"));
    if (file.text->decimal == ',') text += "decimals      comma\n";
  }
  text += fmt::format("points        {}\ndims          {}\ndtype         {}\n", readable_count(summary.points),
                      summary.dims, name_of(summary.dtype));
  text += fmt::format("nonfinite     {}{}\n", readable_count(summary.nonfinite),
                      summary.nonfinite > 0 ? "   (rows with NaN or infinity; search with --skip-nonfinite)" : "");
  text += fmt::format("duplicates    {}\n", readable_count(summary.duplicates));
  text += fmt::format("memory        {}\n", readable_bytes(static_cast<double>(summary.bytes)));
  text += bounds_text(file, summary);
  if (file.labels) text += labels_text(*file.labels);
  return text;
}

/// "avx2 instructions in use; KITH_SIMD=avx512, avx2 or scalar chooses".
std::string instructions_text(const DeviceInfo& cpu) {
  std::string text = cpu.instruction_set + " instructions in use";
  if (cpu.instruction_sets.size() > 1) {
    text += fmt::format("; KITH_SIMD can choose {}", fmt::join(cpu.instruction_sets, ", "));
  }
  return text;
}

ordered_json json_of(const GpuInfo& gpu) {
  return {{"compute_capability", fmt::format("{}.{}", gpu.compute_capability / 10, gpu.compute_capability % 10)},
          {"shared_bytes_per_block", gpu.shared_bytes},
          {"has_code", gpu.has_code},
          {"kd_tree_plan", gpu.has_full_plan ? "full" : "64 KiB"},
          {"tensor_filter_dims", gpu.tensor_filter_dims}};
}

/// A line below that of the device.
std::string text_of(const GpuInfo& gpu) {
  constexpr int kOldest = 75;
  constexpr std::uint32_t kAllDims = 4096;
  const std::string capability = fmt::format("{}.{}", gpu.compute_capability / 10, gpu.compute_capability % 10);
  if (gpu.compute_capability < kOldest) {
    return fmt::format("{:9}compute capability {}: not usable, 7.5 (Turing) is the oldest\n", "", capability);
  }
  if (!gpu.has_code) {
    return fmt::format(
        "{:9}compute capability {}: not usable, this kith holds no code for it; build with "
        "KITH_CUDA_ARCHITECTURES={}\n",
        "", capability, gpu.compute_capability);
  }
  const std::string filter = gpu.tensor_filter_dims == 0          ? "no"
                             : gpu.tensor_filter_dims >= kAllDims ? "yes"
                                                                  : fmt::format("to {} dims", gpu.tensor_filter_dims);
  return fmt::format(
      "{:9}compute capability {}   {} KiB shared memory per block   k-d tree plan: {}   "
      "tensor-core filter: {}\n",
      "", capability, gpu.shared_bytes >> 10, gpu.has_full_plan ? "full" : "64 KiB", filter);
}

int show_devices(const InfoFlags& flags) {
  const std::vector<DeviceInfo> devices = available_devices();
  if (flags.output.json) {
    ordered_json list = ordered_json::array();
    for (const DeviceInfo& info : devices) {
      list.push_back({{"device", info.device.name()},
                      {"name", info.name},
                      {"memory_bytes", info.memory_bytes},
                      {"threads", info.threads}});
      if (info.device.kind() == Device::Kind::cpu) {
        list.back()["instruction_set"] = info.instruction_set;
        list.back()["instruction_sets"] = info.instruction_sets;
      }
      if (info.gpu) list.back().update(json_of(*info.gpu));
    }
    const ordered_json report = {{"built_with_cuda", built_with_cuda()}, {"devices", list}};
    write_to_stdout(report.dump(2) + "\n");
    return 0;
  }
  std::string text;
  for (const DeviceInfo& info : devices) {
    const bool cpu = info.device.kind() == Device::Kind::cpu;
    text +=
        fmt::format("{:<8} {:<28} {:>9} memory   {}\n", info.device.name(), cpu ? "this machine" : info.name,
                    readable_bytes(static_cast<double>(info.memory_bytes)),
                    counted(static_cast<std::uint64_t>(std::max(0, info.threads)), cpu ? "thread" : "multiprocessor"));
    if (cpu) text += fmt::format("{:<8} {}\n", "", instructions_text(info));
    if (info.gpu) text += text_of(*info.gpu);
  }
  write_to_stdout(text);
  if (!built_with_cuda()) flags.output.note("this kith was built without CUDA, so no GPU is looked for");
  return 0;
}

ordered_json json_of(const IndexFileInfo& info) {
  ordered_json report;
  report["format"] = "index";
  report["version"] = info.version;
  report["content"] = name_of(info.content);
  report["engine"] = name_of(info.engine);
  report["metric"] = info.metric_name;
  report["points"] = info.rows;
  if (info.content == IndexContent::points) {
    report["skipped_points"] = info.rows - info.points;
    report["dims"] = info.dims;
    report["dtype"] = name_of(info.dtype);
  }
  if (info.content == IndexContent::bits) report["bits"] = info.dims;
  if (info.content == IndexContent::sequences) report["kind"] = name_of(info.sequence_kind);
  if (info.engine != Engine::brute_force) report["leaf_size"] = info.leaf_size;
  if (info.engine == Engine::kd_tree) report["split"] = info.split;
  if (info.engine == Engine::cover_tree) report["builder"] = info.builder;
  report["compatible_features"] = info.compatible_features;
  report["incompatible_features"] = info.incompatible_features;
  report["file_bytes"] = info.file_bytes;
  ordered_json sections = ordered_json::array();
  for (const IndexFileSection& section : info.sections) {
    sections.push_back({{"name", section.name},
                        {"id", section.id},
                        {"element_bytes", section.element_bytes},
                        {"count", section.count},
                        {"offset", section.offset},
                        {"bytes", section.bytes}});
  }
  report["sections"] = sections;
  return report;
}

std::string text_of(const std::string& path, const IndexFileInfo& info) {
  std::string text = fmt::format("file          {}\nformat        index, version {}\n", path, info.version);
  text += fmt::format("content       {}\nengine        {}\nmetric        {}\n", name_of(info.content),
                      name_of(info.engine), info.metric_name);
  text += fmt::format("points        {}{}\n", readable_count(info.rows),
                      info.rows == info.points ? ""
                                               : fmt::format("   ({} left out because of NaN or infinity)",
                                                             readable_count(info.rows - info.points)));
  if (info.content == IndexContent::points) {
    text += fmt::format("dims          {}\ndtype         {}\n", info.dims, name_of(info.dtype));
  }
  if (info.content == IndexContent::bits) text += fmt::format("bits          {}\n", info.dims);
  if (info.content == IndexContent::sequences) {
    text += fmt::format("kind          {}\n", name_of(info.sequence_kind));
  }
  if (info.engine != Engine::brute_force) text += fmt::format("leaf size     {}\n", info.leaf_size);
  if (info.engine == Engine::kd_tree) text += fmt::format("split         {}\n", info.split);
  if (info.engine == Engine::cover_tree) text += fmt::format("builder       {}\n", info.builder);
  text += fmt::format("features      {:#x} compatible, {:#x} incompatible\n", info.compatible_features,
                      info.incompatible_features);
  text += fmt::format("file size     {}\nsections\n", readable_bytes(static_cast<double>(info.file_bytes)));
  for (const IndexFileSection& section : info.sections) {
    text += fmt::format("  {:<12} {:>14} x {} bytes from byte {}\n", section.name, readable_count(section.count),
                        section.element_bytes, section.offset);
  }
  return text;
}

int show_index(const InfoFlags& flags) {
  refuse_reading_flags(flags.path, flags.read);
  const IndexFileInfo info = describe_index_file(flags.path);
  write_to_stdout(flags.output.json ? json_of(info).dump(2) + "\n" : text_of(flags.path, info));
  flags.output.explanation("header and section table were read and checked; kith verify checks the contents too");
  return 0;
}

int show_shards(const InfoFlags& flags) {
  refuse_reading_flags(flags.path, flags.read);
  const shards::StoredShards stored = shards::StoredShards::open(flags.path);
  const shards::ShardMap& map = stored.map();
  if (flags.output.json) {
    ordered_json list = ordered_json::array();
    for (const shards::ShardFacts& shard : map.shards) {
      list.push_back({{"points", shard.points}, {"lower", shard.lower}, {"upper", shard.upper}});
    }
    const ordered_json report = {{"format", "shards"},
                                 {"metric", stored.metric().name()},
                                 {"points", stored.size()},
                                 {"skipped_points", stored.skipped()},
                                 {"dims", stored.dims()},
                                 {"dtype", name_of(stored.dtype())},
                                 {"file_bytes", stored.file_bytes()},
                                 {"largest_shard_bytes", stored.largest_shard_bytes()},
                                 {"shards", list}};
    write_to_stdout(report.dump(2) + "\n");
  } else {
    write_to_stdout(fmt::format(
        "folder        {}\nformat        shards\nmetric        {}\npoints        {}{}\ndims          {}\n"
        "dtype         {}\nshards        {}\nfile size     {}\nlargest shard {} in memory\n",
        flags.path, stored.metric().name(), readable_count(stored.size()),
        stored.skipped() == 0
            ? ""
            : fmt::format("   ({} left out because of NaN or infinity)", readable_count(stored.skipped())),
        stored.dims(), name_of(stored.dtype()), map.size(), readable_bytes(static_cast<double>(stored.file_bytes())),
        readable_bytes(static_cast<double>(stored.largest_shard_bytes()))));
  }
  flags.output.explanation("the manifest was read and checked; searches check each shard when they load it");
  return 0;
}

int show_tree(const InfoFlags& flags) {
  refuse_reading_flags(flags.path, flags.read);
  const auto tree = io::read_tree(flags.path);
  const auto* table = std::get_if<apps::NodeTable>(&tree);
  const apps::TreeFacts facts = std::visit([](const auto& layout) { return layout.facts; }, tree);
  const std::uint64_t nodes = table != nullptr ? table->point.size() : std::get<apps::InOrderTree>(tree).index.size();
  const std::string_view layout = table != nullptr ? "nodes" : "inorder";
  if (flags.output.json) {
    const ordered_json report = {{"format", "tree"},
                                 {"layout", layout},
                                 {"points", facts.rows},
                                 {"nodes", nodes},
                                 {"levels", std::bit_width(nodes)},
                                 {"dims", facts.dims},
                                 {"dtype", name_of(facts.dtype)},
                                 {"split", name_of(facts.split)},
                                 {"unique", facts.unique},
                                 {"middle", name_of(facts.middle)}};
    write_to_stdout(report.dump(2) + "\n");
  } else {
    write_to_stdout(fmt::format(
        "file          {}\nformat        tree, layout {}\npoints        {}\nnodes         {}\nlevels        {}\n"
        "dims          {}\ndtype         {}\nsplit         {}\nunique        {}\nmiddle        {}\n",
        flags.path, layout, readable_count(facts.rows), readable_count(nodes), std::bit_width(nodes), facts.dims,
        name_of(facts.dtype), name_of(facts.split), facts.unique ? "yes" : "no", name_of(facts.middle)));
  }
  flags.output.explanation("the arrays were read, not checked; kith verify checks them against the points");
  return 0;
}

int run_info(const InfoFlags& flags) {
  if (flags.devices) {
    if (!flags.path.empty()) throw UsageError("info: --devices takes no file");
    return show_devices(flags);
  }
  if (is_index_file(flags.path)) return show_index(flags);
  if (shards::is_stored_shards(flags.path)) return show_shards(flags);
  if (flags.path.empty()) throw UsageError("info: FILE is required; usage: kith info FILE or kith info --devices");
  if (is_tree_input(flags.path, flags.read)) return show_tree(flags);
  if (content_of(flags.path, flags.sequences) == IndexContent::sequences) {
    return show_sequences(flags.path, flags.sequences, flags.output);
  }
  TerminalProgress progress(flags.output.quiet);
  const io::PointFile file = read_input(flags.path, flags.read, flags.output, progress.callback());
  apps::SummarizeOptions options;
  options.threads = flags.read.threads;
  options.progress = progress.callback();
  const apps::Summary summary = apps::summarize(file.view(), options);
  progress.erase();
  write_to_stdout(flags.output.json
                      ? json_of(file, summary).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"
                      : text_of(flags.path, file, summary));
  return 0;
}

}  // namespace

Command info_command() {
  const auto flags = std::make_shared<InfoFlags>();
  Command command;
  command.name = "info";
  command.summary = "describe a file of points, an index, shards or a tree, or list the devices";
  command.synopsis = "FILE [--json] [flags] | --devices";
  command.description =
      "Reads the file as the other commands would and prints the number of points and dimensions, type and bounds, the "
      "number of rows with NaN or infinity and of duplicate rows, and the memory needed. With --from or --text-column "
      "it describes strings and sets. For an index file it prints the header, for a folder of shards and for a tree "
      "from kith export what they are.";
  command.arguments = {
      {"FILE", "FILE", "the points, an index, a folder of shards or a tree; - is standard input", &flags->path}};
  command.groups = {{"What to show",
                     {{"--devices", "", "list the devices that searches can use", &flags->devices},
                      json_flag(flags->output, "print JSON"),
                      {"--skip-nonfinite", "", "count missing values as NaN instead of refusing the file",
                       &flags->read.missing_as_nan},
                      any_metric_flag(flags->metric, flags->sequences, nullptr),
                      threads_flag([flags](int threads) { flags->read.threads = threads; }),
                      quiet_flag(flags->output),
                      explain_flag(flags->output, "print to standard error what was read")}},
                    input_flags(flags->read),
                    sequence_flags(flags->sequences)};
  command.examples = {{"describe a file", "kith info scan.ply"},
                      {"the same as JSON", "kith info scan.ply --json"},
                      {"a table with a label column", "kith info flowers.csv --label class"},
                      {"words, one in each line", "kith info words.txt --from lines"},
                      {"the header of an index file", "kith info scan.kith"},
                      {"a folder of shards", "kith info huge.shards"},
                      {"list the GPUs that can be used", "kith info --devices"}};
  command.run = [flags] { return run_info(*flags); };
  return command;
}

}  // namespace kith::cli
