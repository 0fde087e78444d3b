// Random leave to miss something, for random requests: eps, a budget of leaves, a bound, or all of them.
#pragma once

#include "cuda/kd_tree/search_request.hpp"
#include "engine/knn_rules.hpp"

#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace kith::test {

/// What is asked, and the CPU's answer.
template <typename T>
struct ApproximateAnswer {
  std::vector<std::uint32_t> indices;
  std::vector<T> reduced;
  std::vector<std::uint8_t> exact;

  /// Filled with what no search writes.
  ApproximateAnswer(std::uint64_t queries, std::uint32_t k)
      : indices(queries * k, 0xdeadbeef), reduced(queries * k, T(-1)), exact(queries, 0xaa) {}
};

template <typename T>
ApproximateAnswer<T> approximately_on_cpu(const SearchRequest<T>& request, std::uint32_t k,
                                          const engine::KnnRules<T>& rules, int threads) {
  ApproximateAnswer<T> answer(request.batch.count, k);
  request.on_cpu()->knn(request.batch, k, rules, {.threads = threads}, answer.indices.data(), answer.reduced.data(),
                        answer.exact.data());
  return answer;
}

/// Never those of an exact search.
template <typename T>
engine::KnnRules<T> random_rules(const SearchRequest<T>& request, std::mt19937_64& random) {
  constexpr double kEps[] = {1e-6, 0.01, 0.1, 0.5, 1, 2, 100};
  constexpr std::uint32_t kLeaves[] = {1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 100, 255, 256, 257, 1000};
  engine::KnnRules<T> rules;
  const std::uint64_t kind = random() % 4;
  if (kind != 0) {
    rules.max_leaves =
        random() % 2 == 0 ? static_cast<std::uint32_t>(1 + random() % 12) : kLeaves[random() % std::size(kLeaves)];
  }
  if (kind <= 1) rules.shrink = engine::shrink_of_eps<T>(request.metric, kEps[random() % std::size(kEps)]);
  if (random() % 4 == 0) rules.bound = request.typical_reduced(random);
  return rules;
}

template <typename T>
std::string text_of(const engine::KnnRules<T>& rules, std::uint32_t k) {
  std::ostringstream out;
  out << "k " << k << ", shrink " << rules.shrink << ", leaves " << rules.max_leaves << ", bound " << rules.bound;
  return out.str();
}

}  // namespace kith::test
