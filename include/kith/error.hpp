// One exception type per exit code of the command. Every message says what was wrong, where, and what to do.
#pragma once

#include <kith/export.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace kith::inline v0 {

/// Base of everything that kith throws on purpose.
class KITH_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The exit code with which the command `kith` reports this error.
  virtual int exit_code() const noexcept = 0;
};

/// A call or a command line that makes no sense: unknown option, k below zero, an engine that is not built in.
class KITH_EXPORT UsageError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 2; }
};

/// Data that cannot be searched or parsed: NaN, infinity, a ragged row, a missing value, a zero vector under
/// cosine or angular.
class KITH_EXPORT BadData : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 3; }
};

/// A row of points or queries that cannot be searched, and where it is, so that callers can name it as their users do.
class KITH_EXPORT BadRow : public BadData {
 public:
  /// `array` is "points" or "queries"; `problem` goes on after the place: "is NaN; 3 rows are bad in all".
  BadRow(const std::string& array, std::uint64_t row, std::optional<std::uint32_t> column, const std::string& problem)
      : BadData(array + ": row " + std::to_string(row) + (column ? ", column " + std::to_string(*column) : "") +
                " (counted from 0) " + problem + "; remove them or skip non-finite rows"),
        array_(array),
        problem_(problem),
        row_(row),
        column_(column) {}

  const std::string& array() const noexcept { return array_; }
  const std::string& problem() const noexcept { return problem_; }
  std::uint64_t row() const noexcept { return row_; }                       ///< counted from 0
  std::optional<std::uint32_t> column() const noexcept { return column_; }  ///< counted from 0; none: the whole row

 private:
  std::string array_;
  std::string problem_;
  std::uint64_t row_;
  std::optional<std::uint32_t> column_;
};

/// A file that is damaged, or of a format or version that kith does not read.
class KITH_EXPORT CorruptFile : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 4; }
};

/// The operating system could not open, read or write.
class KITH_EXPORT IoError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 5; }
};

/// Not enough memory, on the host or on a GPU; the message says how many bytes were needed.
class KITH_EXPORT OutOfMemory : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 6; }
};

/// No usable GPU, or the GPU reported an error.
class KITH_EXPORT DeviceError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 7; }
};

/// Of work by several processes: one of them failed in a way that the others cannot, or can no longer be reached.
class KITH_EXPORT LostPeer : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 8; }
};

/// A progress callback asked to stop. Nothing was written.
class KITH_EXPORT Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
  int exit_code() const noexcept override { return 130; }
};

}  // namespace kith::inline v0
