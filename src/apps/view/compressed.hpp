// Bytes as a zlib stream, which browsers call "deflate".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kith::apps {

/// Stored as they are where compression would hardly gain. The same bytes give the same stream with one version of
/// zlib.
std::string compressed(std::string_view bytes);
/// What they would take, quickly.
std::size_t compressed_size(std::string_view bytes);

}  // namespace kith::apps
