// "Did you mean …?" for a word that was mistyped.
#pragma once

#include <string>
#include <vector>

namespace kith::cli {

/// `; did you mean "knn"?` if one of the words is close to `typed` (about one slip per three letters), else nothing.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& words);

}  // namespace kith::cli
