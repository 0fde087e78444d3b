// Names of the methods, kernels and starts of a registration, and how it ended in words.
#include <kith/apps/registration.hpp>

#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <span>

namespace kith::apps::inline v0 {
namespace {

constexpr std::array<std::string_view, 4> kMethods = {"auto", "point", "plane", "gicp"};
constexpr std::array<std::string_view, 5> kKernels = {"none", "huber", "cauchy", "tukey", "geman-mcclure"};
constexpr std::array<std::string_view, 3> kInitial = {"identity", "centroid", "global"};

template <typename Enum>
Enum parse(std::string_view text, std::span<const std::string_view> names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  throw UsageError(fmt::format("\"{}\" is no {}; known are {}", text, what, fmt::join(names, ", ")));
}

}  // namespace

std::string_view name_of(RegistrationMethod method) { return kMethods[static_cast<std::size_t>(method)]; }
RegistrationMethod parse_registration_method(std::string_view text) {
  return parse<RegistrationMethod>(text, kMethods, "method of registration");
}

std::string_view name_of(RobustKernel kernel) { return kKernels[static_cast<std::size_t>(kernel)]; }
RobustKernel parse_robust_kernel(std::string_view text) { return parse<RobustKernel>(text, kKernels, "robust kernel"); }

std::string_view name_of(InitialPose initial) { return kInitial[static_cast<std::size_t>(initial)]; }
InitialPose parse_initial_pose(std::string_view text) { return parse<InitialPose>(text, kInitial, "initial pose"); }

std::string_view explain(RegistrationEnd end) {
  switch (end) {
    case RegistrationEnd::converged:
      return "converged";
    case RegistrationEnd::iterations:
      return "the iterations were used up before it converged";
    case RegistrationEnd::few_pairs:
      return "too few points have a match within the largest distance";
    case RegistrationEnd::undetermined:
      return "the matches determine no motion: surfaces or weights are missing, or sums overflow";
  }
  return "";
}

}  // namespace kith::apps::inline v0
