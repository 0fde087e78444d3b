// Suggests words for misspelt ones: the nearest by edit distance.
#include <kith/kith.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

int main() {
  const std::vector<std::string_view> words = {"address", "believe", "calendar", "definite", "embarrass", "foreign",
                                               "harass",  "knight",  "misspell", "naïve",    "receive",   "separate",
                                               "their",   "there",   "until",    "weird",    "which",     "witch"};
  const std::vector<std::string_view> typed = {"receve", "seperate", "naive", "wich"};
  const auto dictionary = kith::SequenceSet::from_text(words);
  const auto index = kith::SequenceIndex::build(dictionary, kith::SequenceMetric::edit);

  const kith::NeighborLists close = index.radius(kith::SequenceSet::from_text(typed), 2, {.max_neighbors = 3});
  for (std::uint64_t i = 0; i < close.queries(); ++i) {
    std::printf("%s:", typed[i].data());
    for (std::uint64_t j = 0; j < close.count(i); ++j) {
      std::printf(" %s (%g)", dictionary.string(close.index(i, j)).c_str(), close.distance(i, j));
    }
    std::printf("\n");
  }
  const bool found = words[close.index(0, 0)] == "receive" && words[close.index(1, 0)] == "separate" &&
                     words[close.index(2, 0)] == "naïve" && close.count(3) == 2;
  return found ? EXIT_SUCCESS : EXIT_FAILURE;
}
