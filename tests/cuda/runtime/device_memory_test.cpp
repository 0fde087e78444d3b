// Memory of the GPU and copies to and from it.
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/on_device.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/stream.hpp"

#include "support/thrown_message.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::DeviceBuffer;
using cuda::Stream;

class DeviceMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
  std::vector<std::uint8_t> random_bytes(std::uint64_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    return bytes;
  }
  /// Rows of 12 bytes, 20 apart.
  void expect_rows_without_gaps(std::uint64_t rows) {
    const Stream stream;
    const std::vector<std::uint8_t> values = random_bytes(rows * 20);
    DeviceBuffer<std::uint8_t> buffer(values.size(), stream);
    cuda::copy_to_device(buffer.data(), values.data(), values.size(), stream, {});
    std::vector<std::uint8_t> back(rows * 12), expected(rows * 12);
    for (std::uint64_t i = 0; i < rows; ++i) std::memcpy(&expected[i * 12], &values[i * 20], 12);
    cuda::copy_rows_to_host(back.data(), buffer.data(), 12, 20, rows, stream, {});
    EXPECT_TRUE(expected == back) << rows << " rows";
  }
  std::mt19937 random_{31};
};

TEST_F(DeviceMemory, SmallCopiesComeBackWhole) {
  const Stream stream;
  constexpr std::uint64_t kMiB = 1 << 20;
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kMiB, kMiB + 1, 8 * kMiB - 1, 8 * kMiB,
                                    8 * kMiB + 1, 16 * kMiB, 27 * kMiB + 13}) {
    const std::vector<std::uint8_t> values = random_bytes(bytes);
    std::vector<std::uint8_t> back(bytes);
    DeviceBuffer<std::uint8_t> buffer(bytes, stream);
    cuda::copy_to_device(buffer.data(), values.data(), bytes, stream, {.threads = 3});
    cuda::copy_to_host(back.data(), buffer.data(), bytes, stream, {.threads = 3});
    EXPECT_TRUE(values == back) << bytes << " bytes";
  }
}

TEST_F(DeviceMemory, SmallRowsLoseTheirGaps) {
  for (const std::uint64_t rows : {1u, 1000u}) expect_rows_without_gaps(rows);
}
/// initcheck looks at each row of a copy for itself, which takes minutes.
TEST_F(DeviceMemory, ManyRowsLoseTheirGaps) { expect_rows_without_gaps(900000); }

TEST_F(DeviceMemory, PinnedMemoryIsCopiedDirectly) {
  const Stream stream;
  constexpr std::uint64_t kBytes = 5 << 20;
  const std::vector<std::uint8_t> values = random_bytes(kBytes);
  void* pinned = nullptr;
  require_success(cudaMallocHost(&pinned, kBytes));
  std::memcpy(pinned, values.data(), kBytes);
  DeviceBuffer<std::uint8_t> buffer(kBytes, stream);
  cuda::copy_to_device(buffer.data(), pinned, kBytes, stream, {});
  std::memset(pinned, 0, kBytes);
  cuda::copy_to_host(pinned, buffer.data(), kBytes, stream, {});
  EXPECT_EQ(std::memcmp(pinned, values.data(), kBytes), 0);
  cudaFreeHost(pinned);
}

TEST_F(DeviceMemory, ACopyCanBeStopped) {
  const Stream stream;
  const std::vector<std::uint8_t> values(64 << 20);
  DeviceBuffer<std::uint8_t> buffer(values.size(), stream);
  const ProgressCallback stop = [](const Progress&) { return false; };
  EXPECT_THROW(cuda::copy_to_device(buffer.data(), values.data(), values.size(), stream, {.progress = &stop}),
               Interrupted);
  cuda::copy_to_device(buffer.data(), values.data(), values.size(), stream, {});
}

TEST_F(DeviceMemory, TooMuchIsAnErrorThatSaysHowMuch) {
  const Stream stream;
  const std::string text = thrown_message<OutOfMemory>([&] { DeviceBuffer<double>(std::uint64_t{1} << 47, stream); });
  EXPECT_PRED2(holds, text, std::to_string(std::uint64_t{1} << 50) + " bytes");
  EXPECT_PRED2(holds, text, "are free");
  const DeviceBuffer<double> small(1000, stream);
  EXPECT_NE(small.data(), nullptr);
  stream.synchronize();
}

TEST_F(DeviceMemory, WhatThePoolKeepsCountsAsFreeAndCanBeHad) {
  const Stream stream;
  const std::uint64_t before = cuda::memory_of_device(0).free;
  const std::uint64_t half = before / 10 * 6;
  { const DeviceBuffer<std::uint8_t> large(half, stream); }
  stream.synchronize();
  EXPECT_GE(cuda::memory_of_device(0).free, before / 10 * 9) << "the pool keeps it, but it can be had";
  // Of a size that does not fit beside what is kept.
  { const DeviceBuffer<std::uint8_t> larger(before / 10 * 8, stream); }
  stream.synchronize();
  cuda::trim_device_memory(0);
  std::size_t free = 0, total = 0;
  require_success(cudaMemGetInfo(&free, &total));
  EXPECT_GE(free, before / 10 * 9) << "given back";
}

TEST_F(DeviceMemory, TheCurrentDeviceStaysTheCallers) {
  int before = -1, after = -1;
  require_success(cudaGetDevice(&before));
  { const cuda::DeviceScope scope(0); }
  EXPECT_THROW(cuda::DeviceScope(99), DeviceError);
  require_success(cudaGetDevice(&after));
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace kith::test
