// Points of a file that may be larger than memory: blocks of its rows are read as they are asked for.
#pragma once

#include <kith/export.hpp>
#include <kith/io/read_points.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kith::io::inline v0 {

/// A file whose rows lie at regular places: .npy, or plain numbers with a `layout`. Copies share it; every call is
/// thread-safe. Nothing is mapped, so a file that shrinks is an error, not a signal.
class KITH_EXPORT PointRows {
 public:
  /// Reads the header. The options say what they say to `read_points`; labels, extras and tables are left out. Throws
  /// as that does, and UsageError for any other format, for compressed files and for pipes.
  explicit PointRows(const std::string& path, const ReadOptions& options = {});
  /// Nothing for a file whose rows do not lie at regular places.
  static std::optional<PointRows> open_if_possible(const std::string& path, const ReadOptions& options = {});

  const std::string& path() const;
  std::uint64_t rows() const;
  std::uint32_t dims() const;
  DType dtype() const;
  /// The rows from `first` on, as `read_points` would give them. Throws UsageError if there are not so many,
  /// OutOfMemory, IoError, CorruptFile if the file has become shorter.
  PointSet read(std::uint64_t first, std::uint64_t count) const;
  /// Where the file is, how long it is, when it was changed last, and how its rows lie: another text if it was changed
  /// or is read in another way.
  std::string stamp() const;

  struct State;  // src/io/point_rows.cpp

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace kith::io::inline v0
