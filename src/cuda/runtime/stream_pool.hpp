// Streams that wait for the next search: several host threads search at once, each in streams of its own.
#pragma once

#include "cuda/runtime/stream.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace kith::cuda {

/// Thread-safe. Streams are made when they are first needed, on the device that is current then.
class StreamPool {
 public:
  /// A stream for one caller, given back at the end.
  class Lease {
   public:
    explicit Lease(StreamPool& pool) : pool_(pool), stream_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(stream_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    const Stream& operator*() const { return stream_; }

   private:
    StreamPool& pool_;
    Stream stream_;
  };

 private:
  Stream take() {
    {
      const std::lock_guard guard(lock_);
      if (!idle_.empty()) {
        Stream stream = std::move(idle_.back());
        idle_.pop_back();
        return stream;
      }
    }
    return Stream();
  }
  void give_back(Stream stream) noexcept {
    const std::lock_guard guard(lock_);
    try {
      idle_.push_back(std::move(stream));
    } catch (const std::bad_alloc&) {  // then it is destroyed
    }
  }

  std::mutex lock_;
  std::vector<Stream> idle_;
};

}  // namespace kith::cuda
