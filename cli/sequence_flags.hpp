// The flags that say how strings and sets are read, and the reading itself; what the files of a search hold.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/index_file.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/metric.hpp>
#include <kith/progress.hpp>
#include <kith/sequence_metric.hpp>

#include <optional>
#include <string>

namespace kith::cli {

/// --metric, --from, --text, --text-column, --shingle and --words.
struct SequenceFlags {
  std::optional<SequenceMetric> metric;    ///< if one of sequences was given
  std::optional<io::SequenceFormat> from;  ///< if it was given
  std::optional<SequenceKind> text;        ///< if it was given

  std::string text_column;    ///< the column of a table that holds the strings; empty: no table
  std::uint32_t shingle = 0;  ///< letters of a shingle; 0: none
  bool words = false;

  bool makes_sets() const { return shingle > 0 || words; }
  bool reading_given() const { return from || text || makes_sets() || !text_column.empty(); }
};

/// --metric with the metrics of points, bits and sequences. `given` (may be null) is set.
Flag any_metric_flag(Metric& metric, SequenceFlags& flags, bool* given);

/// --from, --text, --text-column, --shingle and --words.
FlagGroup sequence_flags(SequenceFlags& flags);

/// What a file holds, by the metric that was given and by the file: an index tells itself, and under hamming arrays
/// of NumPy are bits, as are standard input and pipes unless it is said how to read strings.
IndexContent content_of(const std::string& path, const SequenceFlags& flags);

/// Throws UsageError if a flag says how to read strings or sets; `what` is "points" or "bits".
void refuse_sequence_flags(const SequenceFlags& flags, const std::string& what);

/// Reads sequences for a metric, prints notes and, with --explain, what the file held. `kind` is that of the sequences
/// to compare with, if they are known. Throws UsageError for a format that is not for the metric.
io::SequenceFile read_sequence_file(const std::string& path, SequenceMetric metric, const SequenceFlags& flags,
                                    std::optional<SequenceKind> kind, const OutputFlags& output,
                                    const ProgressCallback& progress);

}  // namespace kith::cli
