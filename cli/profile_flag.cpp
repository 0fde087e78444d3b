// See profile_flag.hpp.
#include "profile_flag.hpp"

#include <kith/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kith::cli {
namespace {

/// "profile FILE: NAME with 8 threads, groups_per_task 64 (built in: 32)", a line for each device.
std::string explanation_of(const ProfileInUse& profile) {
  std::string text;
  for (const DeviceProfile& device : profile.devices) {
    text += fmt::format("profile {}: {}{}", profile.path, device.name,
                        device.is_gpu ? "" : fmt::format(" with {} threads", device.threads));
    for (const TunedValue& value : tuned_values()) {
      const std::uint64_t tuned = device.values.*value.member, built_in = Tuning{}.*value.member;
      if (tuned != built_in) text += fmt::format(", {} {} (built in: {})", value.name, tuned, built_in);
    }
    text += device.values == Tuning{} ? ", built-in values\n" : "\n";
  }
  return text;
}

}  // namespace

void add_profile_flag(Command& command, const OutputFlags& output) {
  const auto path = std::make_shared<std::string>();
  const Flag flag = {"--profile", "FILE",
                     "what kith tune measured here, or none; by default the file that KITH_PROFILE names, or your own",
                     [path](const std::string& value) { *path = value; }};
  for (FlagGroup& group : command.groups) {
    const auto last = std::find_if(group.flags.rbegin(), group.flags.rend(), [](const Flag& other) {
      return other.names == "--threads" || other.names == "--device";
    });
    if (last == group.flags.rend()) continue;
    group.flags.insert(last.base(), flag);
    break;
  }
  command.run = [run = std::move(command.run), path, &output] {
    const ProfileInUse profile = use_profile(*path);
    if (!profile.note.empty()) output.note(profile.note);
    output.explanation(explanation_of(profile));
    const int code = run();
    if (profile.note.empty() && !profile_in_use().note.empty()) output.note(profile_in_use().note);  // of a GPU
    return code;
  };
}

}  // namespace kith::cli
