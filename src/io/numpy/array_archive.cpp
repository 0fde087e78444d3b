// See array_archive.hpp.
#include "io/numpy/array_archive.hpp"

#include "io/numpy/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace kith::io::inline v0 {

void ArrayArchive::add_bytes(std::string_view name, std::string_view descr, std::span<const std::uint64_t> shape,
                             const void* data, std::size_t bytes) {
  const std::string header = npy_header_bytes(descr, shape);
  archive_.add(fmt::format("{}.npy", name), [&](const ZipWriter::Sink& sink) {
    constexpr std::size_t kStep = std::size_t{1} << 22;
    sink(header.data(), header.size());
    for (std::size_t done = 0; done < bytes; done += kStep) {
      sink(static_cast<const char*>(data) + done, std::min(kStep, bytes - done));
      done_ += std::min(kStep, bytes - done);
      meter_.report(done_);
    }
  });
}

void ArrayArchive::finish() {
  archive_.finish();
  meter_.finish();
}

}  // namespace kith::io::inline v0
