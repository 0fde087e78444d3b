// Counts, sizes and times as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::cli {

/// "1 234 567".
std::string readable_count(std::uint64_t count);

/// "1 point", "1 234 points"; `plural` defaults to an added s.
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// "960 B", "12.3 kB", "4.80 GB": powers of 1000.
std::string readable_bytes(double bytes);

/// "0.12 ms", "34.5 ms", "1.23 s", "2 min 05 s".
std::string readable_duration(double milliseconds);

/// "950", "12.3 k", "4.56 M": three digits and a power of 1000.
std::string readable_quantity(double value);

}  // namespace kith::cli
