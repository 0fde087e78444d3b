// Names of the metrics of sequences.
#include <kith/sequence_metric.hpp>

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::inline v0 {

std::string_view name_of(SequenceMetric metric) {
  switch (metric) {
    case SequenceMetric::edit:
      return "edit";
    case SequenceMetric::hamming:
      return "hamming";
    case SequenceMetric::jaccard:
      break;
  }
  return "jaccard";
}

SequenceMetric parse_sequence_metric(std::string_view text) {
  for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
    if (name_of(metric) == text) return metric;
  }
  if (text == "levenshtein") return SequenceMetric::edit;
  throw UsageError(fmt::format("\"{}\" is no metric of sequences; choose edit, hamming or jaccard", text));
}

}  // namespace kith::inline v0
