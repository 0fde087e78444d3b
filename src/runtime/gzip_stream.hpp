// Bytes compressed as a gzip stream, piece by piece. The same bytes give the same stream: it holds no time and no name.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace kith::runtime {

class GzipStream {
 public:
  using Sink = std::function<void(const char*, std::size_t)>;

  /// Throws std::bad_alloc.
  GzipStream();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  /// Hands on what is ready.
  void write(const char* data, std::size_t bytes, const Sink& sink) { deflate_all(data, bytes, false, sink); }
  /// Hands on the rest and the checksum.
  void finish(const Sink& sink) { deflate_all(nullptr, 0, true, sink); }

 private:
  struct State;
  void deflate_all(const char* data, std::size_t bytes, bool last, const Sink& sink);

  std::unique_ptr<State> state_;
};

}  // namespace kith::runtime
