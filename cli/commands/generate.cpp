// kith generate: makes up points of a given shape and writes them to a file.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "physical_memory.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/io/class_file.hpp>
#include <kith/io/write_points.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace kith::cli {
namespace {

constexpr const char* kShapes = "uniform|clusters|surface|lidar|grid|line|duplicates|classes";
constexpr const char* kWrittenFormats = "auto|csv|npy|npz|ply|pcd";
constexpr std::uint64_t kMostPoints = 0xfffffffe;  // one index holds 2^32 - 2
constexpr std::uint64_t kMostDims = 4096;
constexpr std::uint64_t kMostClasses = 1000000;

struct GenerateFlags {
  apps::GenerateOptions options;
  io::WriteOptions write;
  std::string out = "-";
  bool points_given = false;
  bool dtype_given = false;
  bool classes_given = false;
  std::optional<std::uint64_t> train;  // this or `fresh`: the result is a class file
  std::optional<std::uint64_t> fresh;
  OutputFlags output;
};

io::Labels labels_of(const apps::Generated& generated, std::uint32_t classes) {
  io::Labels labels;
  labels.codes = generated.labels;
  for (std::uint32_t label = 0; label < classes; ++label) labels.names.push_back(std::to_string(label));
  return labels;
}

std::string place_of(const std::string& out) { return out == "-" ? "on standard output" : "in " + out; }

void check_class_file_flags(const GenerateFlags& flags) {
  if (flags.options.shape != apps::Shape::classes) {
    throw UsageError("--train and --new go with --shape classes only");
  }
  if (flags.points_given) throw UsageError("--points does not go with --train and --new, which say how many");
  if (flags.dtype_given) {
    throw UsageError("--dtype does not go with --train and --new: their file has 6 decimals, whatever reads it");
  }
  check_output_path(flags.out);
  const io::Format format =
      flags.write.format == io::Format::automatic ? io::format_of_extension(flags.out) : flags.write.format;
  if (format != io::Format::automatic && format != io::Format::text) {
    throw UsageError(
        fmt::format("--train and --new write text, not {}; choose a name such as classes.csv", io::name_of(format)));
  }
  if (flags.out.ends_with(".gz")) {
    throw UsageError(
        fmt::format("--out: {}: gzip is read but not written; leave out .gz and compress it afterwards", flags.out));
  }
}

/// What the flags describe, and how long it took.
std::pair<apps::Generated, double> timed_generate(GenerateFlags& flags, TerminalProgress& progress) {
  const Stopwatch watch;
  flags.options.progress = progress.callback();
  std::pair<apps::Generated, double> made(apps::generate(flags.options), 0);
  made.second = watch.milliseconds();
  stop_if_interrupted();
  return made;
}

/// A file for kith classify: rows with a class, then new ones.
int run_class_file(GenerateFlags flags) {
  check_class_file_flags(flags);
  const std::uint64_t train = flags.train.value_or(0);
  const std::uint64_t fresh = flags.fresh.value_or(0);
  if (train + fresh > kMostPoints) {
    throw UsageError(fmt::format("--train {} and --new {} are together more than {}", train, fresh, kMostPoints));
  }
  flags.options.points = train + fresh;
  flags.options.dtype = DType::f64;  // holds 6 decimals, f32 does not
  require_memory("the points", flags.options.points, flags.options.dims, sizeof(double), "make fewer points");

  TerminalProgress progress(flags.output.quiet);
  const auto [generated, generate_ms] = timed_generate(flags, progress);

  const Stopwatch write_watch;
  {
    const ExitOnInterrupt leave(flags.out == "-");
    constexpr int kDecimals = 6;
    io::write_class_file(flags.out, generated.points.view(), generated.labels, train, flags.options.classes, kDecimals,
                         progress.callback());
  }
  progress.erase();
  flags.output.summary(
      fmt::format("{} with a class and {} of {} ({}, seed {}) {}: generate {}, write {}", counted(train, "point"),
                  counted(fresh, "new one"), counted(flags.options.dims, "dimension"),
                  counted(flags.options.classes, "class", "classes"), flags.options.seed, place_of(flags.out),
                  readable_duration(generate_ms), readable_duration(write_watch.milliseconds())));
  return 0;
}

int run_generate(GenerateFlags flags) {
  if (flags.train || flags.fresh) return run_class_file(std::move(flags));
  if (flags.classes_given && flags.options.shape != apps::Shape::classes) {
    throw UsageError("--classes goes with --shape classes only");
  }
  if (flags.write.format == io::Format::automatic) {
    flags.write.format = check_points_path(flags.out);
  } else {
    check_output_path(flags.out);
  }
  const std::uint64_t coordinate_bytes = size_of(flags.options.dtype);
  require_memory("the points", flags.options.points, flags.options.dims, coordinate_bytes, "make fewer points");

  TerminalProgress progress(flags.output.quiet);
  const auto [generated, generate_ms] = timed_generate(flags, progress);

  const Stopwatch write_watch;
  io::Labels labels;
  if (!generated.labels.empty() && flags.write.format == io::Format::text) {
    labels = labels_of(generated, flags.options.classes);
    flags.write.labels = &labels;
  } else if (!generated.labels.empty()) {
    progress.erase();
    flags.output.note(fmt::format("{} files hold no labels, so they are left out; write .csv to keep them",
                                  io::name_of(flags.write.format)));
  }
  flags.write.progress = progress.callback();
  {
    const ExitOnInterrupt leave(flags.out == "-");
    io::write_points(flags.out, generated.points.view(), flags.write);
  }
  progress.erase();
  flags.output.summary(fmt::format("{} of {} ({}, {}, seed {}) {}: generate {}, write {}",
                                   counted(generated.points.rows(), "point"),
                                   counted(generated.points.dims(), "dimension"), apps::name_of(flags.options.shape),
                                   name_of(flags.options.dtype), flags.options.seed, place_of(flags.out),
                                   readable_duration(generate_ms), readable_duration(write_watch.milliseconds())));
  return 0;
}

FlagGroup point_flags(GenerateFlags& flags) {
  return {
      "Points",
      {choice_flag("--shape", kShapes, "distribution of the points; uniform by default", flags.options.shape,
                   apps::parse_shape),
       {"-n,--points", "N", "number of points: 1000, 1e6, 100k, 2M; 1000 by default",
        [&flags](const std::string& value) {
          flags.options.points = parse_whole("--points", value, 0, kMostPoints);
          flags.points_given = true;
        }},
       whole_flag("-d,--dims", "D", "coordinates per point, 1 to 4096; 3 by default", flags.options.dims, 1, kMostDims),
       seed_flag(flags.options.seed, "random seed; the same seed gives the same bytes on every machine; 1 by default"),
       dtype_flag("the type of the coordinates; f32 by default",
                  [&flags](DType dtype) {
                    flags.options.dtype = dtype;
                    flags.dtype_given = true;
                  }),
       {"--classes", "C", "shape classes: number of labels; 10 by default",
        [&flags](const std::string& value) {
          flags.options.classes = static_cast<std::uint32_t>(parse_whole("--classes", value, 1, kMostClasses));
          flags.classes_given = true;
        }},
       whole_flag("--train", "N", "shape classes, a file for kith classify: number of points with a class", flags.train,
                  0, kMostPoints),
       whole_flag("--new", "M", "number of points without a class, after them", flags.fresh, 0, kMostPoints),
       threads_flag([&flags](int threads) { flags.options.threads = threads; })}};
}

FlagGroup file_flags(GenerateFlags& flags) {
  return {"Result",
          {{"-o,--out", "FILE", "output file; by default CSV on standard output", &flags.out},
           choice_flag("--format", kWrittenFormats, "output format; by default taken from the extension of FILE",
                       flags.write.format, io::parse_format),
           {"--ascii", "", "write ply and pcd as text instead of binary", &flags.write.ascii},
           quiet_flag(flags.output)}};
}

}  // namespace

Command generate_command() {
  const auto flags = std::make_shared<GenerateFlags>();
  Command command;
  command.name = "generate";
  command.summary = "generate points: uniform, clusters, a lidar scan, ...";
  command.synopsis =
      "--shape SHAPE (--points N | --train N --new M) [--dims D] [--seed S] [--dtype f32|f64] [--out FILE]";
  command.description =
      "Generates points for trying things out. The same flags give the same bytes on every machine and with any number "
      "of threads. The shape classes also generates a label per point, the last column of a CSV file; with --train and "
      "--new it writes a file for kith classify.";
  command.groups = {point_flags(*flags), file_flags(*flags)};
  command.examples = {
      {"100 000 points like those of a lidar scanner", "kith generate --shape lidar --points 100k --out scan.npy"},
      {"a CSV file with 5 classes and their labels",
       "kith generate --shape classes --classes 5 --points 1000 --dims 4 --out flowers.csv"},
      {"1000 points in 5 classes, and 20 to classify",
       "kith generate --shape classes --train 1000 --new 20 --classes 5 --dims 4 --out points.csv"},
      {"look at the first few", "kith generate --shape clusters --points 1e6 --dims 2 | head -5"}};
  command.run = [flags] { return run_generate(*flags); };
  return command;
}

}  // namespace kith::cli
