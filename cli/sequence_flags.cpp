// See sequence_flags.hpp.
#include "sequence_flags.hpp"

#include "number_arguments.hpp"
#include "readable.hpp"
#include "search_flags.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

namespace kith::cli {
namespace {

constexpr const char* kLayouts = "auto|lines|fasta|phylip|sets";
constexpr const char* kTexts = "utf8|bytes";
constexpr std::uint32_t kLongestShingle = 1000;

/// Whether a file under hamming holds an array, not strings.
bool holds_bits(const std::string& path) {
  const bool is_named_array = path.ends_with(".npy");
  struct stat status {};
  if (path == "-") return true;
  if (stat(path.c_str(), &status) != 0) return is_named_array;
  if (!S_ISREG(status.st_mode)) return true;
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::string head(kMagic.size(), '\0');
  std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return is_named_array || head == kMagic;
}

io::SequenceFile read_and_report(const std::string& path, const io::SequenceReadOptions& options,
                                 const OutputFlags& output) {
  io::SequenceFile file = io::read_sequences(path, options);
  for (const std::string& note : file.notes) output.note(note);
  output.explanation(fmt::format("read {}: {}, {} of {}, {}, {}", path == "-" ? "standard input" : path,
                                 options.text_column.empty() ? std::string(io::name_of(file.format))
                                                             : fmt::format("column {}", options.text_column),
                                 counted(file.sequences.size(), "sequence"), name_of(file.sequences.kind()),
                                 counted(file.view().item_count(), "item"),
                                 readable_bytes(static_cast<double>(file.sequences.bytes()))));
  return file;
}

}  // namespace

Flag any_metric_flag(Metric& metric, SequenceFlags& flags, bool* given) {
  Flag flag = metric_flag(metric);
  flag.value += "|hamming|edit|jaccard";
  flag.text += "; hamming: bits of a .npy, or strings; edit: strings; jaccard: sets";
  flag.take = [&flags, given, take = flag.take](const std::string& value) {
    if (given != nullptr) *given = true;
    flags.metric.reset();
    if (value == "hamming" || value == "edit" || value == "levenshtein" || value == "jaccard") {
      flags.metric = parse_sequence_metric(value);
    } else {
      take(value);
    }
  };
  return flag;
}

FlagGroup sequence_flags(SequenceFlags& flags) {
  return {
      "Reading strings and sets",
      {choice_flag("--from", kLayouts,
                   "edit, hamming, jaccard: file format; by default recognised by extension and content", flags.from,
                   io::parse_sequence_format),
       choice_flag(
           "--text", kTexts, "edit, hamming: compare Unicode characters (utf8, the default) or bytes", flags.text,
           [](const std::string& value) { return value == "bytes" ? SequenceKind::bytes : SequenceKind::text; }),
       {"--text-column", "COLUMN", "the file is a table (CSV), and this column, by name or position, holds the strings",
        [&flags](const std::string& value) {
          if (value.empty()) throw UsageError("--text-column: the name of the column is empty");
          flags.text_column = value;
        }},
       whole_flag("--shingle", "N", "jaccard: compare strings as sets of N consecutive characters", flags.shingle, 1,
                  kLongestShingle),
       {"--words", "", "jaccard: compare strings as sets of words", &flags.words}}};
}

IndexContent content_of(const std::string& path, const SequenceFlags& flags) {
  if (path != "-" && is_index_file(path)) return describe_index_file(path).content;
  if (!flags.metric) return flags.reading_given() ? IndexContent::sequences : IndexContent::points;
  const bool are_bits = *flags.metric == SequenceMetric::hamming && !flags.reading_given() && holds_bits(path);
  return are_bits ? IndexContent::bits : IndexContent::sequences;
}

void refuse_sequence_flags(const SequenceFlags& flags, const std::string& what) {
  if (!flags.reading_given()) return;
  const char* const flag = flags.from                   ? "--from"
                           : flags.text                 ? "--text"
                           : !flags.text_column.empty() ? "--text-column"
                           : flags.shingle > 0          ? "--shingle"
                                                        : "--words";
  throw UsageError(fmt::format(
      "{} is for strings and sets (--metric edit, hamming or jaccard), not for {}; leave it out", flag, what));
}

io::SequenceFile read_sequence_file(const std::string& path, SequenceMetric metric, const SequenceFlags& flags,
                                    std::optional<SequenceKind> kind, const OutputFlags& output,
                                    const ProgressCallback& progress) {
  const bool are_sets = metric == SequenceMetric::jaccard;
  io::SequenceReadOptions options;
  options.progress = progress;
  options.format = flags.from.value_or(io::SequenceFormat::automatic);
  options.text_column = flags.text_column;
  options.shingle = flags.shingle;
  options.words = flags.words;
  if (flags.shingle > 0 && flags.words) throw UsageError("--shingle and --words are two ways to make sets; give one");
  if (flags.from && !flags.text_column.empty()) throw UsageError("--text-column reads tables; leave --from out");
  if (flags.makes_sets()) {
    if (!are_sets) throw UsageError("--shingle and --words make sets of strings, which --metric jaccard compares");
    if (options.format == io::SequenceFormat::sets) {
      throw UsageError("--shingle and --words make sets of strings, but --from sets reads sets; use --from lines");
    }
    options.kind = flags.text.value_or(SequenceKind::text);
    return read_and_report(path, options, output);
  }
  if (are_sets && !flags.text_column.empty()) {
    throw UsageError("--metric jaccard compares sets; make them of the strings by --shingle N or --words");
  }
  if (are_sets && options.format == io::SequenceFormat::automatic) options.format = io::SequenceFormat::sets;
  if (are_sets != (options.format == io::SequenceFormat::sets)) {
    throw UsageError(are_sets ? fmt::format("--metric jaccard compares sets, but --from {} reads strings; use --from "
                                            "sets, or --metric edit",
                                            io::name_of(options.format))
                              : fmt::format("--metric {} compares strings, but --from sets reads sets; use --metric "
                                            "jaccard",
                                            name_of(metric)));
  }
  if (are_sets && flags.text) throw UsageError("--text is for strings, not for sets; leave it out");
  if (!are_sets && (kind == SequenceKind::numbers)) {
    throw UsageError("the index holds sequences of numbers, which no file of strings can ask");
  }
  if (!are_sets) options.kind = flags.text.value_or(kind.value_or(SequenceKind::text));
  return read_and_report(path, options, output);
}

}  // namespace kith::cli
