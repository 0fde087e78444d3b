// See report_page.hpp.
#include "report/report_page.hpp"

#include "option_words.hpp"
#include "readable.hpp"
#include "report/page_parts.hpp"
#include "report/shown.hpp"
#include "report/typed_command.hpp"

#include <kith/device.hpp>
#include <kith/io/text_file.hpp>
#include <kith/profile.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>

namespace kith::cli {
namespace {

/// "AMD EPYC, 16 threads, avx2, 33.6 GB".
std::string text_of(const DeviceInfo& info) {
  if (!info.gpu) {
    return fmt::format("{}, {}, {}, {} of memory", profile_of_cpu().name,
                       shown_count(static_cast<std::uint64_t>(info.threads), "thread", "threads"), info.instruction_set,
                       readable_bytes(static_cast<double>(info.memory_bytes)));
  }
  return fmt::format("{}: {}, compute capability {}.{}, {} of memory", info.device.name(), info.name,
                     info.gpu->compute_capability / 10, info.gpu->compute_capability % 10,
                     readable_bytes(static_cast<double>(info.memory_bytes)));
}

Markup footer() {
  Markup devices;
  for (const DeviceInfo& info : available_devices()) devices += element("li", text_of(info));
  return element("footer", element("p", fmt::format("kith {} on", KITH_VERSION)) + element("ul", devices) +
                               element("p", "This page is one file: it loads nothing and sends nothing."));
}

std::string_view class_of(KeyFigure::Mood mood) {
  switch (mood) {
    case KeyFigure::Mood::good:
      return "good";
    case KeyFigure::Mood::bad:
      return "bad";
    default:
      return "";
  }
}

}  // namespace

ReportPage::ReportPage(std::string title, std::string subject)
    : title_(std::move(title)), subject_(std::move(subject)) {
  allow(kReportPage.script_hash, kReportPage.style_hash);
  has_inner_page_ = false;
}

void ReportPage::allow(std::string_view script_hash, std::string_view style_hash) {
  scripts_ += fmt::format(" '{}'", script_hash);
  styles_ += fmt::format(" '{}'", style_hash);
  has_inner_page_ = true;
}

void ReportPage::key_figures(std::span<const KeyFigure> figures) {
  Markup list;
  for (const KeyFigure& figure : figures) {
    Markup inside =
        element("dt", figure.name) + element("dd", {{"class", std::string(class_of(figure.mood))}}, figure.value);
    if (!figure.note.empty()) inside += element("dd", {{"class", "note"}}, figure.note);
    list += element("div", inside);
  }
  top_ += element("dl", {{"class", "figures"}}, list);
}

void ReportPage::note(std::string_view words) { top_ += element("p", {{"class", "notice"}}, with_flags(words)); }

void ReportPage::section(std::string_view heading, const Markup& inside) {
  if (!inside.empty()) sections_ += element("section", element("h2", heading) + inside);
}

void ReportPage::folded(std::string_view heading, const Markup& inside) {
  if (inside.empty()) return;
  sections_ += element("section", element("details", element("summary", element("h2", heading)) + inside));
}

std::string ReportPage::policy() const {
  // What a page inside draws into a picture to save it has an address that begins with blob:.
  return fmt::format(
      "default-src 'none'; script-src{}; style-src{}; img-src data:{}; base-uri 'none'; form-action 'none'", scripts_,
      styles_, has_inner_page_ ? " blob:" : "");
}

std::string ReportPage::html() const {
  const Markup header = element("header", element("h1", title_) + element("p", {{"class", "subject"}}, subject_) +
                                              element("pre", {{"class", "command"}}, element("code", typed_command())));
  const Markup title = element("title", fmt::format("{}: {}", title_, shortened(subject_, 120)));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n{}\n<style>{}</style>\n</head>\n"
      "<body>\n<main>\n{}\n{}\n{}\n{}\n</main>\n<script type=\"module\">{}</script>\n</body>\n</html>\n",
      policy(), title.source(), kReportPage.style, header.source(), top_.source(), sections_.source(),
      footer().source(), kReportPage.script);
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Markup side_by_side(const Markup& figures) { return element("div", {{"class", "grid"}}, figures); }

Markup sentences(std::span<const std::string> all) {
  Markup list;
  for (const std::string& one : all) list += element("li", one);
  return all.empty() ? Markup() : element("ul", {{"class", "sentences"}}, list);
}

Markup explanation_lines(std::string_view explanation) {
  std::vector<std::string> lines;
  for (const std::string& line : split(with_flags(explanation), '\n')) {
    if (!line.empty()) lines.push_back(line);
  }
  return sentences(lines);
}

Markup facts_table(const std::string& caption, std::span<const std::pair<std::string, Cell>> facts) {
  Table table(caption, {});
  for (const auto& [name, value] : facts) table.add({cell(name), value});
  return table.empty() ? Markup() : table.markup("facts");
}

Markup times_chart(std::span<const StageTime> stages) {
  std::vector<Bar> bars;
  double sum = 0;
  for (const auto& [name, ms] : stages) {
    bars.push_back({name, ms, readable_duration(ms)});
    sum += ms;
  }
  return bar_chart({"Time per stage", "", "", fmt::format("{} in all.", readable_duration(sum))}, bars);
}

void write_report(const std::string& path, const ReportPage& page, const OutputFlags& output) {
  io::write_text(path, page.html());
  output.summary(fmt::format("report in {}", path));
}

}  // namespace kith::cli
