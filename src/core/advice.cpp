// See kith/advice.hpp.
#include <kith/advice.hpp>

#include <algorithm>

namespace kith::inline v0 {

std::string with_options(std::string_view message, const OptionWords& words) {
  constexpr char kMark = '`';
  std::string text;
  while (true) {
    const std::size_t begin = message.find(kMark);
    const std::size_t end = begin == std::string_view::npos ? begin : message.find(kMark, begin + 1);
    if (end == std::string_view::npos) return text.append(message);
    const std::string_view option = message.substr(begin + 1, end - begin - 1);
    const std::size_t equals = option.find('=');
    const bool is_option =
        equals != std::string_view::npos && equals > 0 &&
        std::ranges::all_of(option.substr(0, equals), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    text.append(message.substr(0, is_option ? begin : end));
    if (is_option) text += words(option.substr(0, equals), option.substr(equals + 1));
    message.remove_prefix(is_option ? end + 1 : end);
  }
}

}  // namespace kith::inline v0
