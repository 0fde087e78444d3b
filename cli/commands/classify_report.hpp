// What becomes of the labels and values of kith classify: how good they are, how long they took, where they are
// written, and whether a plain loop finds them again.
#pragma once

#include "commands/classify_flags.hpp"
#include "commands/classify_input.hpp"

#include <kith/apps/choose_k.hpp>
#include <kith/apps/classify.hpp>
#include <kith/apps/evaluate.hpp>
#include <kith/apps/neighbor_options.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

/// How good labels are. Rows whose truth is not told do not count.
struct LabelVerdict {
  apps::LabelScore score;
  std::vector<apps::Confusion> confusion;
  std::uint64_t of_no_known_class = 0;  ///< rows whose true class no training point has
};

/// A vote that was nearly lost.
struct ContestedVote {
  std::uint64_t query = 0;
  std::uint32_t winner = 0;
  std::uint32_t second = 0;
  double share = 0;         ///< of all weight, of the winner
  double second_share = 0;  ///< and of the best of the others
};

/// How the votes went, for --report.
struct LabelVotes {
  std::vector<std::uint64_t> labelled;   ///< per class: how many points got it
  std::vector<double> winner_shares;     ///< per query; empty: not kept
  std::vector<ContestedVote> contested;  ///< those with the smallest lead, smallest first
};

/// What was done.
struct ClassifyWork {
  std::uint32_t k = 0;
  std::optional<apps::KChoice> choice;
  apps::NeighborWork neighbors;
  std::uint64_t depth = 0;
  std::uint64_t rounds = 0;
  std::optional<LabelVerdict> labels;
  std::optional<apps::ValueScore> values;
  LabelVotes votes;                 ///< with --report
  std::vector<double> predictions;  ///< values per query, with --report
  double choose_ms = 0;
  double check_ms = 0;
  double write_ms = 0;
};

/// Compares with the truth, which must be known.
LabelVerdict judge_labels(const ClassifyInput& input, const std::vector<std::uint32_t>& found);
apps::ValueScore judge_values(const ClassifyInput& input, const std::vector<double>& found);

/// What is said of labels, for people: the name of a class, or its number in a class file.
std::string class_name(const ClassifyInput& input, std::uint32_t label);

/// "read 1.20 ms" and the others that took place.
std::vector<std::pair<std::string, double>> stages_of(const ClassifyFlags& flags, const ClassifyInput& input,
                                                      const ClassifyWork& work);

/// How well each k did, as CSV: k and right and accuracy, or k and error.
std::string choice_table(const apps::KChoice& choice, std::uint64_t points);

/// Everything for people, on standard error.
void summarize_work(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work);
/// Everything as JSON.
std::string json_of_work(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work);

/// Asks for the neighbours of one query at a time by brute force on one thread, and lets them vote; in sequential mode
/// with the labels that the loop itself gave before. Throws BadData that names the first row that differs.
void check_labels(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const std::uint32_t> found,
                  std::uint32_t k, const ProgressCallback& progress);
void check_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  std::uint32_t k, const ProgressCallback& progress);

/// A class file gets its classes filled in. Rows of a text file stay as they stood and get the column "predicted" and,
/// with --proba, one per class; those of other files are written as CSV.
void write_labels(const ClassifyFlags& flags, const ClassifyInput& input, const apps::Classified& found,
                  const ProgressCallback& progress);
/// The same with values.
void write_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  const ProgressCallback& progress);

}  // namespace kith::cli
