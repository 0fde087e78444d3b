// The vote of scikit-learn over lists of neighbours: the class with the most weight, of several the lowest by default.
#include "arrays.hpp"
#include "module.hpp"
#include "thread_count.hpp"

#include <kith/apps/neighbor_options.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kNeighborsPerThread = 1 << 17;

/// What all threads read, and where they write.
struct Ballot {
  const std::int64_t* codes;      ///< per point, its class
  const std::int64_t* neighbors;  ///< queries x k
  const double* weights;          ///< queries x k, or null: each counts 1
  std::size_t k;
  apps::Ties ties;
  std::int64_t* winners;
};

/// Of two classes with the same votes: whether that of the later neighbour wins.
bool later_wins(apps::Ties ties, std::int64_t first, std::int64_t later) {
  return ties == apps::Ties::lowest ? later < first : ties == apps::Ties::highest && later > first;
}

/// `votes` has a 0 per class, and has it again afterwards.
void count_votes(const Ballot& ballot, std::size_t first, std::size_t end, double* votes) {
  for (std::size_t query = first; query < end; ++query) {
    const std::int64_t* row = ballot.neighbors + query * ballot.k;
    const double* weights = ballot.weights == nullptr ? nullptr : ballot.weights + query * ballot.k;
    // Weights are added in the order of the list, as predict_proba adds them.
    for (std::size_t j = 0; j < ballot.k; ++j) {
      votes[static_cast<std::size_t>(ballot.codes[row[j]])] += weights == nullptr ? 1.0 : weights[j];
    }
    std::int64_t winner = ballot.codes[row[0]];
    double most = votes[static_cast<std::size_t>(winner)];
    for (std::size_t j = 1; j < ballot.k; ++j) {
      const std::int64_t code = ballot.codes[row[j]];
      const double here = votes[static_cast<std::size_t>(code)];
      if (here > most || (here == most && later_wins(ballot.ties, winner, code))) {
        winner = code;
        most = here;
      }
    }
    ballot.winners[query] = winner;
    for (std::size_t j = 0; j < ballot.k; ++j) votes[static_cast<std::size_t>(ballot.codes[row[j]])] = 0.0;
  }
}

void require_below(const std::int64_t* numbers, std::size_t count, std::size_t bound, const char* message) {
  const bool fits = std::all_of(numbers, numbers + count,
                                [bound](std::int64_t number) { return static_cast<std::uint64_t>(number) < bound; });
  if (!fits) throw nb::value_error(message);
}

nb::object winning_classes(const Values<std::int64_t>& codes, std::size_t classes,
                           const Matrix<std::int64_t>& neighbors, const std::optional<Matrix<double>>& weights,
                           const std::string& ties, int threads) {
  const std::size_t queries = neighbors.shape(0);
  const std::size_t k = neighbors.shape(1);
  if (k == 0) throw nb::value_error("no neighbours, no vote");
  if (weights && (weights->shape(0) != queries || weights->shape(1) != k)) {
    throw nb::value_error("weights and neighbors must have one shape");
  }
  const FreshArray<std::int64_t> winners({queries});
  const Ballot ballot{codes.data(),           neighbors.data(), weights ? weights->data() : nullptr, k,
                      apps::parse_ties(ties), winners.values};
  {
    const nb::gil_scoped_release released;
    require_below(codes.data(), codes.size(), classes, "a code is not below the number of classes");
    require_below(neighbors.data(), queries * k, codes.size(), "a neighbour is not one of the points");
    const std::size_t most = std::max<std::size_t>(1, queries * k / kNeighborsPerThread);
    const std::size_t parts = std::clamp<std::size_t>(thread_count(threads), 1, most);
    std::vector<double> votes(parts * classes, 0.0);
    std::vector<std::jthread> helpers;
    for (std::size_t part = 1; part < parts; ++part) {
      helpers.emplace_back(count_votes, ballot, queries * part / parts, queries * (part + 1) / parts,
                           votes.data() + part * classes);
    }
    count_votes(ballot, 0, queries / parts, votes.data());
  }
  return winners.array;
}

}  // namespace

void bind_class_votes(nb::module_& module) {
  module.def("winning_classes", &winning_classes, "codes"_a, "classes"_a, "neighbors"_a, "weights"_a.none(),
             nb::kw_only(), "ties"_a = "lowest", "threads"_a = 0);
}

}  // namespace kith::python
