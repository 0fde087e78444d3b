// What colours the points when a page opens.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace kith::apps {

/// What `ViewOptions::color` means for these clouds of a scene. Throws UsageError, which lists what there is.
nlohmann::ordered_json color_choice(const std::string& wanted, const nlohmann::ordered_json& clouds);

}  // namespace kith::apps
