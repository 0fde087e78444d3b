// One function per shape that fills all rows of a point set; generate.cpp chooses between them.
#pragma once

#include <kith/apps/generate.hpp>
#include <kith/point_set.hpp>

namespace kith::apps::inline v0 {

/// Independent coordinates in [0, 1).
void fill_uniform(PointSet& points, const GenerateOptions& options);
/// Normal clouds of deviation 0.005 around at most 256 centres that are uniform in the unit cube; at least 16 points
/// each on average.
void fill_clusters(PointSet& points, const GenerateOptions& options);
/// Eight curved sheets and spheres, two-dimensional in any number of dims, with noise of deviation 0.0005 across them.
void fill_surface(PointSet& points, const GenerateOptions& options);
/// Scans of a street by a spinning scanner with 64 rings, in metres; z is up and the ground is near 0.
void fill_lidar(PointSet& points, const GenerateOptions& options);
/// The first n places, in row-major order, of the smallest cubic lattice of spacing 1 that has n.
void fill_grid(PointSet& points, const GenerateOptions& options);
/// Places at random on one line through the origin. They are on it exactly: each coordinate is the first one times a
/// power of two.
void fill_line(PointSet& points, const GenerateOptions& options);
/// Draws from n / 10 places of the unit cube, some far more often than others.
void fill_duplicates(PointSet& points, const GenerateOptions& options);
/// Numbers with 6 decimals, uniform in [-100, 100].
void fill_decimals(PointSet& points, const GenerateOptions& options);

}  // namespace kith::apps::inline v0
