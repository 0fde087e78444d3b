// See output_file.hpp.
#include "runtime/output_file.hpp"

#include "runtime/gzip_stream.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kith::runtime {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& path, std::string_view doing) {
  throw IoError(fmt::format("{}: cannot be {}: {}", path, doing, std::strerror(errno)));
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_written_in_place(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// The file that a symbolic link points to, so that saving through a link keeps the link.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

}  // namespace

std::string_view without_gz(std::string_view path) {
  constexpr std::string_view kEnd = ".gz";
  const bool ends =
      path.size() > kEnd.size() && strncasecmp(path.data() + path.size() - kEnd.size(), kEnd.data(), kEnd.size()) == 0;
  return ends ? path.substr(0, path.size() - kEnd.size()) : path;
}

OutputFile::OutputFile(const std::string& path, Compression compression) : path_(path) {
  buffer_.reserve(kBufferBytes);
  if (compression == Compression::by_name && without_gz(path) != path) gzip_ = std::make_unique<GzipStream>();
  if (path == "-") {
    path_ = "standard output";
    descriptor_ = dup(STDOUT_FILENO);
    if (descriptor_ < 0) fail(path_, "written");
    return;
  }
  if (path.empty()) throw IoError("the name of the file to write is empty");
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw IoError(fmt::format("{}: is a directory; name a file in it", path));
  }
  if (is_written_in_place(path)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path_, "opened");
    return;
  }
  path_ = resolved(path);
  temporary_ = path_ + ".XXXXXX.tmp";
  descriptor_ = mkostemps(temporary_.data(), 4, O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, "created");
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor_, 0666 & ~mask);  // mkostemps makes the file private; an ordinary file follows the umask
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes >= kBufferBytes) {
    put(from, bytes);
    flushed_ += bytes;
  } else {
    buffer_.insert(buffer_.end(), from, from + bytes);
  }
}

void OutputFile::put(const char* data, std::size_t bytes) {
  if (gzip_ == nullptr) return write_all(data, bytes);
  gzip_->write(data, bytes, [this](const char* packed, std::size_t size) { write_all(packed, size); });
}

void OutputFile::flush() {
  if (!buffer_.empty()) put(buffer_.data(), buffer_.size());
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::write_all(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor_, data, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(path_, "written");
    data += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void OutputFile::commit() {
  flush();
  if (gzip_ != nullptr) {
    gzip_->finish([this](const char* packed, std::size_t size) { write_all(packed, size); });
  }
  const int descriptor = descriptor_;
  if (temporary_.empty()) {
    descriptor_ = -1;
    if (close(descriptor) != 0) fail(path_, "written");
    return;
  }
  if (fsync(descriptor) != 0) fail(path_, "flushed to the disk");
  descriptor_ = -1;
  if (close(descriptor) != 0) fail(path_, "written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "put in place");
  temporary_.clear();
  const int directory = open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);  // some file systems cannot sync a directory; the file itself is safe
    close(directory);
  }
}

}  // namespace kith::runtime
