// See view.hpp: the scene, its numbers, and the page around them.
#include <kith/apps/view.hpp>

#include "apps/view/page_parts.hpp"
#include "apps/view/scene.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <new>

namespace kith::apps::inline v0 {
namespace {

/// For the text of an element.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '\0':
        safe += "\xEF\xBF\xBD";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

/// JSON that no "</script>" or "<!--" in a name can end. What is no UTF-8 is replaced.
std::string script_text(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string joined_page(const nlohmann::ordered_json& scene, StoredArrays& arrays) {
  // As JSON has it: what is no UTF-8 is replaced there.
  const std::string title = nlohmann::ordered_json::parse(script_text(scene["title"])).get<std::string>();
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{}'; style-src '{}'; "
      "img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"{}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}",
      kViewPage.script_hash, kViewPage.style_hash, scene["generator"].get_ref<const std::string&>(), escaped(title),
      kViewPage.style, kViewPage.body);
  page += "<script type=\"application/json\" id=\"scene\">" + script_text(scene) + "</script>\n";
  for (std::size_t block = 0; block < arrays.size(); ++block) {
    page += "<script type=\"application/octet-stream\" class=\"block\">";
    page += arrays.take_text(block);
    page += "</script>\n";
    runtime::look_for_stop();
  }
  page += fmt::format("<script type=\"module\">{}</script>\n</body>\n</html>\n", kViewPage.script);
  return page;
}

}  // namespace

std::string view_page(std::span<const ViewedCloud> clouds, const ViewOptions& options) {
  const runtime::Watched watched(&options.progress, "encoding");
  try {
    StoredArrays arrays;
    const nlohmann::ordered_json scene = make_scene(clouds, options, arrays);
    return joined_page(scene, arrays);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("the page does not fit into memory; show fewer points or columns");
  }
}

ViewHashes view_hashes() { return {kViewPage.script_hash, kViewPage.style_hash}; }

}  // namespace kith::apps::inline v0
