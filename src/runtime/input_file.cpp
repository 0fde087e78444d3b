// See input_file.hpp.
#include "runtime/input_file.hpp"

#include "runtime/physical_memory.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/zstd_stream.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace kith::runtime {
namespace {

constexpr std::size_t kReadStep = std::size_t{1} << 20;
constexpr std::size_t kManyZeros = std::size_t{16} << 20;

std::string reason() { return std::strerror(errno); }

/// Makes space for more bytes of a file whose size is not known before its end.
void grow(std::vector<char>& memory, std::size_t used, const std::string& name) {
  if (memory.size() >= used + kReadStep) return;
  const std::size_t wanted = std::max(used + kReadStep, memory.size() * 2);
  try {
    // What is copied is there twice for a moment, but the half that is not yet used takes no memory.
    if (used > physical_memory()) throw std::bad_alloc();
    memory.resize(wanted);
  } catch (const std::exception&) {
    throw OutOfMemory(fmt::format("{}: not enough memory: {} bytes of it were read, and there are more", name, used));
  }
}

/// An endless source of zeros is no file of anything.
void refuse_zeros(const std::vector<char>& memory, std::size_t used, const std::string& name) {
  if (std::all_of(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(used), [](char c) { return c == 0; })) {
    throw CorruptFile(fmt::format("{}: its first {} bytes are all NUL; it holds nothing that kith reads", name, used));
  }
}

/// Terminals can be read, and the empty device; the other devices of that kind never end.
bool is_endless_device(int descriptor, const struct stat& status) {
  const bool is_null = major(status.st_rdev) == 1 && minor(status.st_rdev) == 3;
  return S_ISCHR(status.st_mode) && isatty(descriptor) == 0 && !is_null;
}

}  // namespace

InputFile::InputFile(const std::string& path, const ProgressCallback& progress)
    : name_(path == "-" ? "standard input" : path) {
  do {  // opening a pipe waits for its writer; a signal wakes it
    descriptor_ = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0 && errno == EINTR && progress && !progress({"reading", 0, 0})) throw Interrupted();
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) throw IoError(fmt::format("{}: cannot be opened: {}", name_, reason()));
  try {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) throw IoError(fmt::format("{}: {}", name_, reason()));
    if (S_ISDIR(status.st_mode)) throw IoError(fmt::format("{}: is a directory, not a file", name_));
    if (is_endless_device(descriptor_, status)) {
      throw IoError(fmt::format("{}: is a device, not a file; kith reads files and pipes", name_));
    }
    if (S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    } else {
      take_into_memory(progress);
    }
    unsigned char magic[4] = {0, 0, 0, 0};
    read_at(0, magic, sizeof(magic));
    if (magic[0] == 0x1f && magic[1] == 0x8b) inflate_in_memory(progress);
    if (begins_as_zstd(magic)) keep_in_memory(decompress_zstd(*this, progress));
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

InputFile::InputFile(std::string name, std::vector<char> memory)
    : name_(std::move(name)), size_(memory.size()), in_memory_(true), memory_(std::move(memory)) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::take_into_memory(const ProgressCallback& progress) {
  ProgressMeter meter(&progress, "reading", 0);
  std::size_t used = 0;
  for (;;) {
    grow(memory_, used, name_);
    const ssize_t got = read(descriptor_, memory_.data() + used, memory_.size() - used);
    if (got < 0 && errno == EINTR) {
      if (progress && !progress({"reading", used, 0})) throw Interrupted();
      continue;
    }
    if (got < 0) throw IoError(fmt::format("{}: cannot be read: {}", name_, reason()));
    if (got == 0) break;
    meter.report(used);
    const std::size_t before = used;
    used += static_cast<std::size_t>(got);
    if (before < kManyZeros && used >= kManyZeros) refuse_zeros(memory_, used, name_);
  }
  memory_.resize(used);
  in_memory_ = true;
  size_ = used;
}

void InputFile::inflate_in_memory(const ProgressCallback& progress) {
  ProgressMeter meter(&progress, "inflating", size_);
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw OutOfMemory(fmt::format("{}: no memory to inflate gzip", name_));
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};

  std::vector<unsigned char> input(kReadStep);
  std::vector<char> output;
  std::size_t used = 0;
  std::uint64_t offset = 0;
  bool member_open = true;
  while (offset < size_) {
    const std::size_t got = read_at(offset, input.data(), input.size());
    if (got == 0) break;
    offset += got;
    meter.report(offset);
    stream.next_in = input.data();
    stream.avail_in = static_cast<uInt>(got);
    while (stream.avail_in > 0) {
      if (!member_open) {  // gzip files may be several members, one after the other
        inflateReset(&stream);
        member_open = true;
      }
      grow(output, used, name_);
      const std::size_t capacity = std::min<std::size_t>(output.size() - used, std::numeric_limits<uInt>::max());
      stream.next_out = reinterpret_cast<unsigned char*>(output.data()) + used;
      stream.avail_out = static_cast<uInt>(capacity);
      const int result = inflate(&stream, Z_NO_FLUSH);
      const std::size_t before = used;
      used += capacity - stream.avail_out;
      if (before < kManyZeros && used >= kManyZeros) refuse_zeros(output, used, name_);
      if (result == Z_STREAM_END) {
        member_open = false;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw CorruptFile(fmt::format("{}: the gzip stream is damaged near byte {}", name_, offset - stream.avail_in));
      }
    }
  }
  if (member_open) throw CorruptFile(fmt::format("{}: the gzip stream ends too early, after {} bytes", name_, offset));
  output.resize(used);
  keep_in_memory(std::move(output));
}

void InputFile::keep_in_memory(std::vector<char> bytes) {
  memory_ = std::move(bytes);
  in_memory_ = true;
  size_ = memory_.size();
}

std::size_t InputFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  if (in_memory_) {
    if (bytes == 0 || offset >= memory_.size()) return 0;
    const std::size_t count = std::min<std::size_t>(bytes, memory_.size() - offset);
    std::memcpy(out, memory_.data() + offset, count);
    return count;
  }
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(descriptor_, static_cast<char*>(out) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(fmt::format("{}: cannot be read at byte {}: {}", name_, offset + done, reason()));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::read_exact(std::uint64_t offset, void* out, std::size_t bytes) const {
  const std::size_t got = read_at(offset, out, bytes);
  if (got < bytes) {
    throw CorruptFile(fmt::format("{}: ends at byte {}, but {} bytes are needed from byte {} on; the file is cut short",
                                  name_, offset + got, bytes, offset));
  }
}

std::string InputFile::head(std::size_t bytes) const {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size_)), '\0');
  text.resize(read_at(0, text.data(), text.size()));
  return text;
}

}  // namespace kith::runtime
