// See standard_output.hpp.
#include "standard_output.hpp"

#include "interrupt.hpp"
#include "printable.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kith::cli {

void guard_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is this one. Opened the wrong way round, so that using it fails as it should.
    const int way = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", way) != descriptor) throw IoError("a closed standard descriptor cannot be guarded");
  }
}

void write_to_stdout(std::string_view raw) {
  const std::string safe = printable(raw);
  std::string_view text = safe;
  const ExitOnInterrupt leave(true);
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      throw IoError(fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void write_to_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR && !interrupted()) continue;
    if (put <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace kith::cli
