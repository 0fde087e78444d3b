// Everything that the library offers, in one include.
#pragma once

#include <kith/apps/dedupe.hpp>
#include <kith/apps/generate.hpp>
#include <kith/apps/summarize.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_neighbors.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/device.hpp>
#include <kith/dtype.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/io/format.hpp>
#include <kith/io/neighbors_file.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/io/write_points.hpp>
#include <kith/metric.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>
#include <kith/version.hpp>
#include <kith/work_times.hpp>
