// kith tune: measures which numbers suit this machine, and writes them to a profile.
#include "commands/all_commands.hpp"

#include "commands/tune_search.hpp"
#include "input_flags.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "readable.hpp"
#include "report/report_flag.hpp"
#include "report/tune_report.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kMostSeconds = 3600;

struct TuneFlags {
  Device device;
  std::uint64_t seconds = 60;
  std::string data;
  std::string out;     ///< empty: the user's profile
  std::string report;  ///< a page that shows the result; empty: none
  OutputFlags output;
};

std::string table_of(const std::vector<Finding>& findings) {
  std::string text = fmt::format("{:<20} {:>10} {:>10} {:>9} {:>9} {:>5}  {}\n", "value", "built in", "tuned", "before",
                                 "after", "gain", "meaning");
  for (const Finding& finding : findings) {
    std::string before = "-", after = "-", gain = "-";
    if (finding.is_measured()) {
      before = readable_duration(finding.before_ms);
      after = readable_duration(finding.after_ms);
      gain = fmt::format("{:.0f} %", 100 * (1 - finding.after_ms / finding.before_ms));
    }
    text += fmt::format("{:<20} {:>10} {:>10} {:>9} {:>9} {:>5}  {}\n", finding.value->name, finding.built_in(),
                        finding.tuned, before, after, gain, finding.value->meaning);
  }
  return text;
}

ordered_json json_of(const Tuned& tuned, const std::string& path) {
  ordered_json values = ordered_json::array();
  for (const Finding& finding : tuned.findings) {
    values.push_back({{"name", finding.value->name},
                      {"built_in", finding.built_in()},
                      {"tuned", finding.tuned},
                      {"before_ms", finding.is_measured() ? ordered_json(finding.before_ms) : ordered_json()},
                      {"after_ms", finding.is_measured() ? ordered_json(finding.after_ms) : ordered_json()}});
  }
  return {{"device", tuned.profile.is_gpu ? "cuda" : "cpu"},
          {"name", tuned.profile.name},
          {"threads", tuned.profile.threads},
          {"profile", path},
          {"values", values},
          {"times", tuned.profile.times.size()}};
}

/// The file to write, which is no other than a profile; its folder is created.
std::string checked_path(const TuneFlags& flags) {
  const std::string path = flags.out.empty() ? user_profile_path() : flags.out;
  if (path.empty()) throw UsageError("there is no home directory for the profile; name a file with --out");
  if (path == "-") throw UsageError("--out: a profile is a file that kith reads again; name one");
  if (path == "none") throw UsageError("--out: none stands for no profile; name a file, or ./none");
  require_own_files({{"--out", path}, {"--report", flags.report}}, {flags.data});
  std::error_code error;  // what is wrong with the folder is found next
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  check_output_path(path);
  if (std::filesystem::exists(path)) read_profile(path);
  return path;
}

int run_tune(const TuneFlags& flags) {
  const std::string path = checked_path(flags);
  TerminalProgress progress(flags.output.quiet);
  TuneRequest request{work_device(flags.device), static_cast<double>(flags.seconds), {}};
  if (!flags.data.empty()) {
    io::ReadOptions read;
    read.dtype = DType::f32;
    request.data = read_input(flags.data, read, flags.output, progress.callback()).points;
    progress.erase();
  }
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  if (double load = 0; getloadavg(&load, 1) == 1 && load > 0.5 * threads) {
    flags.output.note(fmt::format("the machine is busy (load {:.1f}, {}); measure again when it does nothing else",
                                  load, counted(threads, "thread")));
  }
  const Tuned tuned = tune(request, progress);
  progress.erase();
  write_to_profile(path, tuned.profile);
  write_to_stdout(flags.output.json
                      ? json_of(tuned, path).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"
                      : table_of(tuned.findings));
  const auto measured = std::count_if(tuned.findings.begin(), tuned.findings.end(), std::mem_fn(&Finding::is_measured));
  if (static_cast<std::size_t>(measured) < tuned.findings.size()) {
    flags.output.note("there was no time to measure all values; give more with --seconds");
  }
  const auto changed = std::count_if(tuned.findings.begin(), tuned.findings.end(),
                                     [](const Finding& finding) { return finding.tuned != finding.built_in(); });
  const char* named = std::getenv("KITH_PROFILE");
  const bool is_hidden = flags.out.empty() && named != nullptr && *named != '\0' && named != path;
  if (is_hidden) flags.output.note(fmt::format("KITH_PROFILE is {}, so that {} is not used by itself", named, path));
  flags.output.summary(fmt::format(
      "{}: {}, {} of {} values changed{}", path, tuned.profile.name, changed, tuned.findings.size(),
      flags.out.empty() && !is_hidden ? "; used from now on, unless --profile or KITH_PROFILE names another" : ""));
  if (!flags.report.empty()) write_tune_report(flags.report, tuned, path, flags.output);
  return 0;
}

}  // namespace

Command tune_command() {
  const auto flags = std::make_shared<TuneFlags>();
  Command command;
  command.name = "tune";
  command.summary = "measure what suits this machine, and use it";
  command.synopsis = "[--device cpu|cuda] [--data FILE] [--seconds S] [--out FILE] [--report FILE] [flags]";
  command.description =
      "Measures, in bounded time, which of the numbers that choose between equally right paths suit this machine: from "
      "how many points on a tree beats a scan, how much work a thread is woken for, and others. A built-in number is "
      "replaced only if another one is clearly faster. The result is a profile, a file of JSON, which commands and "
      "libraries of this user read by themselves. No answer depends on it.";
  command.groups = {
      {"What to measure",
       {work_device_flag(flags->device),
        {"--data", "FILE",
         "measure with these points, where their dimensions fit and there are enough; uniform ones by default",
         &flags->data},
        whole_flag("--seconds", "S", "how long it may take, 1 to 3600; 60 by default", flags->seconds, 1,
                   kMostSeconds)}},
      {"Result",
       {{"-o,--out", "FILE",
         "write the profile here instead of ~/.config/kith/profile.json; what it has of other devices and versions "
         "stays",
         &flags->out},
        report_flag(flags->report, "write a page for a browser: what each value gains, and what was timed"),
        json_flag(flags->output, "print JSON instead of a table"),
        quiet_flag(flags->output)}}};
  command.groups[0].flags[0].text = "the device to tune; cpu by default";
  command.examples = {{"once on each machine", "kith tune"},
                      {"its GPU", "kith tune --device cuda"},
                      {"with a page that shows what was gained", "kith tune --report tune.html"},
                      {"with your own points, into a file to try first",
                       "kith tune --data scan.npy --out scan.json && kith knn scan.npy -k 8 --profile scan.json"}};
  command.run = [flags] { return run_tune(*flags); };
  return command;
}

}  // namespace kith::cli
