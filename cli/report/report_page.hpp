// The frame of every report: what was typed, what came out in short, sections, and what it was made with.
#pragma once

#include "output_flags.hpp"
#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

/// A figure that is told first.
struct KeyFigure {
  enum class Mood : unsigned char { plain, good, bad };

  std::string name;
  std::string value;
  std::string note = {};
  Mood mood = Mood::plain;
};

/// How long a stage took.
using StageTime = std::pair<std::string, double>;

class ReportPage {
 public:
  /// "kith register", "scan.ply onto map.ply".
  ReportPage(std::string title, std::string subject);

  void key_figures(std::span<const KeyFigure> figures);
  /// Something that a reader must know, above all sections.
  void note(std::string_view words);
  void section(std::string_view heading, const Markup& inside);
  /// A section that is closed at first.
  void folded(std::string_view heading, const Markup& inside);
  /// The whole page. The command line is that of this process.
  std::string html() const;
  /// Another page inside this one; its policy needs these hashes, too.
  void allow(std::string_view script_hash, std::string_view style_hash);

 private:
  std::string policy() const;

  std::string title_;
  std::string subject_;
  Markup top_;
  Markup sections_;
  std::string scripts_, styles_;
  bool has_inner_page_ = false;
};

/// The path of an input; "-" is standard input.
std::string input_name(const std::string& path);
/// Charts and tables side by side where there is room.
Markup side_by_side(const Markup& figures);
/// A list of sentences.
Markup sentences(std::span<const std::string> all);
/// What --explain prints, line by line; nothing if it is empty.
Markup explanation_lines(std::string_view explanation);
/// Names and values, two columns.
Markup facts_table(const std::string& caption, std::span<const std::pair<std::string, Cell>> facts);
/// Times of stages as bars; the note has their sum.
Markup times_chart(std::span<const StageTime> stages);

/// Writes the page whole or not at all, and tells so in the summary. Throws IoError.
void write_report(const std::string& path, const ReportPage& page, const OutputFlags& output);

}  // namespace kith::cli
