// What a page shows: the clouds and what is known of their points, as the script of the page reads it.
#pragma once

#include "apps/view/stored_array.hpp"

#include <kith/apps/view.hpp>

#include <nlohmann/json.hpp>

#include <span>

namespace kith::apps {

/// The description of the clouds; its numbers lie in `arrays`, encoded. Throws as `view_page`.
nlohmann::ordered_json make_scene(std::span<const ViewedCloud> clouds, const ViewOptions& options,
                                  StoredArrays& arrays);

}  // namespace kith::apps
