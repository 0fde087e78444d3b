// See tune_search.hpp. The values of a trial take turns; then the best one and the built-in one take turns again, and
// it must win clearly.
#include "commands/tune_search.hpp"

#include "commands/tune_bench.hpp"
#include "interrupt.hpp"
#include "stopwatch.hpp"

#include <kith/index.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace kith::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// A value must take this share of the built-in one's time or less, by the minima of all rounds and in most rounds; in
/// no single piece of work may it take longer by as much. Of the rounds it may lose one in six. At first, when there
/// are few times, only what is much slower somewhere is left out.
constexpr double kClearly = 0.97, kMuch = 0.9;
constexpr std::size_t kFewestRounds = 7, kRoundsPerLoss = 6;

const TunedValue& value_named(std::string_view name) {
  const auto values = tuned_values();
  return *std::find_if(values.begin(), values.end(), [&](const TunedValue& value) { return value.name == name; });
}

/// Runs trials one after the other, each with what the ones before it found.
class Tuner {
 public:
  Tuner(double seconds, TerminalProgress& progress) : limit_ms_(seconds * 1000), report_(progress.callback()) {}

  /// Takes about `share` of the time that is left.
  Finding run(const Trial& trial, double share);
  const Tuning& found() const { return found_; }
  /// Reports progress; throws Interrupted.
  void report() const {
    const auto total = static_cast<std::uint64_t>(limit_ms_);
    report_({"tuning", std::min(static_cast<std::uint64_t>(watch_.milliseconds()), total), total});
    stop_if_interrupted();
  }
  double left_ms() const { return limit_ms_ - watch_.milliseconds(); }

 private:
  using Times = std::vector<double>;  ///< of each piece of work

  /// Lowers `best` to what each piece of work takes now, and returns the sum; without limit when the trial's time is
  /// over.
  double measure(const Trial& trial, const TunedValue& value, std::uint64_t number, Times& best) const;
  static double sum(const Times& times) {
    double all = 0;
    for (const double ms : times) all += ms;
    return all;
  }
  static bool is_slower_anywhere(const Times& times, const Times& than, double share) {
    for (std::size_t w = 0; w < times.size(); ++w) {
      if (times[w] * share > than[w]) return true;
    }
    return false;
  }
  bool wins(const Trial& trial, const TunedValue& value, std::uint64_t number, double until_ms, Finding& finding);

  bool is_over() const { return watch_.milliseconds() >= end_ms_; }

  double limit_ms_;
  double end_ms_ = 0;  ///< of the trial that runs, at the latest
  Stopwatch watch_;
  ProgressCallback report_;
  Tuning found_;
};

double Tuner::measure(const Trial& trial, const TunedValue& value, std::uint64_t number, Times& best) const {
  Tuning values = found_;
  values.*value.member = number;
  use_tuning(values);
  double all = 0;
  for (std::size_t w = 0; w < trial.work.size(); ++w) {
    if (is_over()) return kNever;
    const double ms = trial.work[w]();
    best[w] = std::min(best[w], ms);
    all += ms;
    report();
  }
  return all;
}

/// Against the built-in number, by fresh times.
bool Tuner::wins(const Trial& trial, const TunedValue& value, std::uint64_t number, double until_ms, Finding& finding) {
  Times built_in(trial.work.size(), kNever), other = built_in;
  std::vector<double> ratios;
  while (ratios.size() < kFewestRounds || watch_.milliseconds() < until_ms) {
    const double before = measure(trial, value, finding.built_in(), built_in);
    const double after = measure(trial, value, number, other);
    if (is_over()) break;
    ratios.push_back(after / before);
  }
  if (ratios.size() < kFewestRounds) return false;
  std::sort(ratios.begin(), ratios.end());
  finding.before_ms = finding.after_ms = sum(built_in);
  if (is_slower_anywhere(other, built_in, kClearly) || sum(other) > kClearly * sum(built_in)) return false;
  if (ratios[ratios.size() / 2] > kClearly || ratios[ratios.size() - 1 - ratios.size() / kRoundsPerLoss] >= 1)
    return false;
  finding.after_ms = sum(other);
  return true;
}

Finding Tuner::run(const Trial& trial, double share) {
  const TunedValue& value = value_named(trial.name);
  Finding finding{&value, Tuning{}.*value.member, 0, 0};
  const double start_ms = watch_.milliseconds(), share_ms = left_ms() * share;
  end_ms_ = start_ms + std::min(2 * share_ms, left_ms());  // rounds that have begun may take some of the next share
  std::vector<Times> times(trial.values.size(), Times(trial.work.size(), kNever));
  do {
    for (std::size_t v = 0; v < trial.values.size(); ++v) measure(trial, value, trial.values[v], times[v]);
  } while (watch_.milliseconds() - start_ms < share_ms / 2 && !is_over());
  if (is_over()) return finding;

  const auto built_in = std::find(trial.values.begin(), trial.values.end(), finding.tuned) - trial.values.begin();
  // The least product of all times: each piece of work counts alike.
  const auto score = [&](const Times& all) {
    if (is_slower_anywhere(all, times[built_in], kMuch)) return kNever;
    double logarithms = 0;
    for (const double ms : all) logarithms += std::log(ms);
    return logarithms;
  };
  const auto best =
      std::min_element(times.begin(), times.end(), [&](const Times& a, const Times& b) { return score(a) < score(b); });
  finding.before_ms = finding.after_ms = sum(times[built_in]);
  const std::uint64_t candidate = trial.values[best - times.begin()];
  if (candidate != finding.tuned && wins(trial, value, candidate, start_ms + share_ms, finding)) {
    finding.tuned = candidate;
    found_.*value.member = candidate;
  }
  return finding;
}

/// Built-in numbers again, whatever happens.
struct BuiltInAfterwards {
  ~BuiltInAfterwards() { use_profile("none"); }
};

std::string name_of_gpu(Device device) {
  for (const DeviceInfo& info : available_devices()) {
    if (info.device == device) return info.name;
  }
  return {};
}

}  // namespace

Tuned tune(const TuneRequest& request, TerminalProgress& progress) {
  use_profile("none");
  const BuiltInAfterwards afterwards;
  Tuner tuner(request.seconds, progress);
  const Bench bench(request.data, request.device);
  Tuned tuned{profile_of_cpu(), {}};
  const std::vector<Bench::Maker> trials = bench.trials();
  const double turns = static_cast<double>(trials.size()) + 1;  // the last one is for the times
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const double share = 1 / (turns - static_cast<double>(t));
    tuned.findings.push_back(tuner.run((bench.*trials[t])(), share));
  }
  use_tuning(tuner.found());
  for (TimedRun& run : bench.runs_to_time()) {
    if (tuner.left_ms() <= 0) break;
    bench.time(run);
    tuned.profile.times.push_back(run);
    tuner.report();
  }
  tuned.profile.values = tuner.found();
  if (request.device.kind() == Device::Kind::cuda) {
    tuned.profile.is_gpu = true;
    tuned.profile.name = name_of_gpu(request.device);
    tuned.profile.threads = 0;
  }
  return tuned;
}

}  // namespace kith::cli
