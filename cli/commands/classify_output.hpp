// Where labels and values go: behind the rows that they were found for.
#pragma once

#include "commands/classify_flags.hpp"
#include "commands/classify_input.hpp"

#include <kith/apps/classify.hpp>
#include <kith/progress.hpp>

#include <span>

namespace kith::cli {

/// A class file gets its classes filled in. Rows of a text file stay as they stood and get the column "predicted" and,
/// with --proba, one per class; those of other files are written as CSV.
void write_labels(const ClassifyFlags& flags, const ClassifyInput& input, const apps::Classified& found,
                  const ProgressCallback& progress);
/// The same with values.
void write_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  const ProgressCallback& progress);

}  // namespace kith::cli
