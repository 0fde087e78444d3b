// Builds a folder of shards from files of points, step by step, so that it can go on after it was stopped anywhere.
#pragma once

#include "shards/stored/cut.hpp"

#include <kith/shards/stored_shards.hpp>

#include <functional>
#include <string>

namespace kith::shards {

/// `after_step`, if there is one, is called after everything that changes files: tests stop a build there.
void build_folder(const StoredPoints& points, const std::string& folder, const StoredBuildOptions& options,
                  const std::function<void()>& after_step = {});

}  // namespace kith::shards
