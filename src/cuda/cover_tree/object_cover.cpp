// See object_cover.hpp.
#include "cuda/cover_tree/object_cover.hpp"

#include "cuda/cover_tree/build/build.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/started_device.hpp"
#include "runtime/time_spent.hpp"

#include <utility>

namespace kith::cuda {
namespace {

std::uint64_t bytes_of(const AnySpace& space, std::uint64_t rows) {
  return rows * space.stride * sizeof(std::uint32_t);
}

DeviceBuffer<std::uint32_t> copied_rows(const AnySpace& space, const ObjectRows& rows, const Stream& stream,
                                        const engine::RunOptions& run) {
  DeviceBuffer<std::uint32_t> words(std::uint64_t{rows.count} * space.stride, stream);
  if (words.size() > 0) {
    copy_to_device(words.data(), rows.words, words.bytes(), stream, CopyOptions::of_build(run));
  }
  return words;
}

}  // namespace

ObjectCover build_object_cover(const AnySpace& space, const ObjectRows& rows, std::uint32_t leaf_size, int device,
                               const engine::RunOptions& run) {
  const StartedDevice started(device, run);
  require_device_memory(
      device,
      bytes_of(space, rows.count) +
          least_cover_build_memory(rows.count, space.stride, engine::cover_leaf_size(leaf_size)).peak_bytes,
      "building the index");
  const DeviceBuffer<std::uint32_t> words = copied_rows(space, rows, started.stream, run);
  const runtime::TimeSpent spent(runtime::member_of(run.times, &WorkTimes::device_ms));
  DeviceCoverTree tree = build_cover_tree_of(space, words.data(), rows.count,
                                             {.leaf_size = engine::cover_leaf_size(leaf_size)}, started.stream);
  if (run.times != nullptr) run.times->evaluations += tree.evaluations;
  return {started.stream, PreparedCover(std::move(tree), words.data(), space.has_heads(), started.stream),
          std::make_unique<HostCover>()};
}

ObjectCover take_object_cover(const AnySpace& space, const ObjectRows& rows, engine::CoverTree tree, int device,
                              const engine::RunOptions& run) {
  const StartedDevice started(device, run);
  require_device_memory(device,
                        2 * bytes_of(space, rows.count) + tree.memory_bytes() + tree.nodes.size() * CoverNodes::kBytes +
                            bytes_of(space, tree.nodes.size()) +
                            (space.has_heads() ? (rows.count + tree.nodes.size()) * sizeof(CoverHead) : 0),
                        "the index");
  const DeviceBuffer<std::uint32_t> words = copied_rows(space, rows, started.stream, run);
  const runtime::TimeSpent spent(runtime::member_of(run.times, &WorkTimes::device_ms));
  DeviceCoverTree copy = copy_to_device(tree, words.data(), space.stride, started.stream);
  return {started.stream, PreparedCover(std::move(copy), words.data(), space.has_heads(), started.stream),
          std::make_unique<HostCover>(std::move(tree))};
}

}  // namespace kith::cuda
