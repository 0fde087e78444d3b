// See stored_array.hpp. The format is described in README.md.
#include "apps/view/stored_array.hpp"

#include "apps/view/base64.hpp"
#include "apps/view/compressed.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace kith::apps {
namespace {

constexpr std::uint32_t kRoundedSteps = 65534;  // 65,535 values; the code behind them says that there is none
constexpr double kMostCodes = 4294967295.0;
constexpr double kMostWhole = 9007199254740992.0;  // up to here f64 holds every whole number
constexpr std::uint64_t kTrialCodes = std::uint64_t{1} << 16;

/// What has to be known of numbers before a form is chosen.
struct Facts {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_missing = false;
  bool are_whole = true;
  bool fit_f32 = true;

  bool is_empty() const { return low > high; }
};

Facts facts_of(std::span<double> values) {
  Facts facts;
  for (double& value : values) {
    if (!std::isfinite(value)) {
      value = std::numeric_limits<double>::quiet_NaN();
      facts.has_missing = true;
      continue;
    }
    facts.low = std::min(facts.low, value);
    facts.high = std::max(facts.high, value);
    facts.are_whole = facts.are_whole && value == std::floor(value) && std::abs(value) <= kMostWhole;
    const float single = static_cast<float>(value);
    facts.fit_f32 = facts.fit_f32 && static_cast<double>(single) == value;
  }
  return facts;
}

/// Codes 0, 1, …: value = low + step * code.
struct Coding {
  double low = 0;
  double step = 1;
  std::uint32_t last = 0;  ///< the largest code of a number
  std::optional<std::uint32_t> missing = {};
  bool is_rounded = false;

  std::uint32_t largest() const { return missing.value_or(last); }
};

/// Whole numbers, and equal ones, are codes as they are; others only if they may be rounded.
std::optional<Coding> coding_of(const Facts& facts, Closeness closeness) {
  Coding coding;
  if (facts.is_empty()) {
    if (facts.has_missing) coding.missing = 1;
    return coding;
  }
  coding.low = facts.low;
  const double range = facts.high - facts.low;
  if (facts.low == facts.high) {
    coding.step = 0;
  } else if (facts.are_whole && range < kMostCodes) {
    coding.last = static_cast<std::uint32_t>(range);
  } else if (closeness == Closeness::rounded && range / kRoundedSteps > 0 && std::isfinite(range)) {
    coding.last = kRoundedSteps;
    coding.step = range / kRoundedSteps;
    coding.is_rounded = true;
  } else {
    return {};
  }
  if (facts.has_missing) coding.missing = coding.last + 1;
  return coding;
}

std::vector<std::uint32_t> codes_of(std::span<const double> values, const Coding& coding) {
  std::vector<std::uint32_t> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      codes[i] = *coding.missing;
    } else if (coding.step > 0) {
      const double place = (values[i] - coding.low) / coding.step;
      codes[i] = static_cast<std::uint32_t>(std::clamp(std::floor(place + 0.5), 0.0, static_cast<double>(coding.last)));
    }
  }
  return codes;
}

/// The lowest bytes of all values, then the second ones, …
template <typename U>
std::string byte_planes(std::span<const U> values, int bytes) {
  std::string planes(values.size() * static_cast<std::size_t>(bytes), '\0');
  for (int plane = 0; plane < bytes; ++plane) {
    char* to = planes.data() + static_cast<std::size_t>(plane) * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<char>(values[i] >> (8 * plane));
  }
  return planes;
}

std::vector<std::uint32_t> differences(std::span<const std::uint32_t> codes) {
  std::vector<std::uint32_t> steps(codes.size());
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) steps[i] = codes[i] - std::exchange(last, codes[i]);
  return steps;
}

struct Form {
  std::string_view type;
  std::string planes;
  bool is_difference = false;
};

/// As they are or as differences, whichever is smaller for the first of them.
Form form_of_codes(const std::vector<std::uint32_t>& codes, std::uint32_t largest) {
  const int bytes = largest < 0x100 ? 1 : largest < 0x10000 ? 2 : 4;
  const std::string_view type = bytes == 1 ? "u8" : bytes == 2 ? "u16" : "u32";
  const std::span<const std::uint32_t> first =
      std::span<const std::uint32_t>(codes).first(std::min<std::size_t>(codes.size(), kTrialCodes));
  const std::vector<std::uint32_t> first_steps = differences(first);
  const bool is_difference = compressed_size(byte_planes<std::uint32_t>(first_steps, bytes)) <
                             compressed_size(byte_planes<std::uint32_t>(first, bytes));
  if (!is_difference) return {type, byte_planes<std::uint32_t>(codes, bytes)};
  return {type, byte_planes<std::uint32_t>(differences(codes), bytes), true};
}

/// The bits of floating-point numbers.
Form form_of_floats(std::span<const double> values, bool fit_f32) {
  if (fit_f32) {
    std::vector<std::uint32_t> bits(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      bits[i] = std::bit_cast<std::uint32_t>(static_cast<float>(values[i]));
    return {"f32", byte_planes<std::uint32_t>(bits, 4)};
  }
  std::vector<std::uint64_t> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) bits[i] = std::bit_cast<std::uint64_t>(values[i]);
  return {"f64", byte_planes<std::uint64_t>(bits, 8)};
}

}  // namespace

std::size_t StoredArrays::add(std::uint64_t count, Closeness closeness, Fill fill) {
  arrays_.push_back({count, closeness, std::move(fill)});
  return arrays_.size() - 1;
}

void StoredArrays::encode(int threads) {
  runtime::parallel_for(arrays_.size(), {.threads = threads, .stage = "encoding", .nanoseconds_per_task = 1e6},
                        [this](std::uint64_t block) { encode(arrays_[block]); });
}

nlohmann::ordered_json StoredArrays::description(std::size_t block) const {
  nlohmann::ordered_json description;
  description["block"] = block;
  description.update(arrays_[block].description);
  return description;
}

void StoredArrays::encode(Array& array) {
  std::vector<double> values(array.count);
  array.fill(values);
  array.fill = {};
  const Facts facts = facts_of(values);
  const std::optional<Coding> coding = coding_of(facts, array.closeness);
  const Form form =
      coding ? form_of_codes(codes_of(values, *coding), coding->largest()) : form_of_floats(values, facts.fit_f32);
  values = {};

  nlohmann::ordered_json& description = array.description;
  description["type"] = form.type;
  description["count"] = array.count;
  if (form.is_difference) description["delta"] = true;
  if (coding) {
    description["low"] = coding->low;
    description["step"] = coding->step;
    if (coding->missing) description["missing"] = *coding->missing;
    if (coding->is_rounded) array.rounded_step = coding->step;
  }
  array.text = base64(compressed(form.planes));
}

}  // namespace kith::apps
