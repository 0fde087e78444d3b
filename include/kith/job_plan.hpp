// What a build and a search will take, in memory and in time, on this machine or on a GPU that need not be there.
#pragma once

#include <kith/device.hpp>
#include <kith/dtype.hpp>
#include <kith/export.hpp>
#include <kith/index.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kith::inline v0 {

/// A GPU by its data sheet.
struct GpuCard {
  std::string_view name;            ///< e.g. "A100-80"
  std::uint64_t memory_bytes = 0;   ///< as its driver reports it
  double gigabytes_per_second = 0;  ///< between the chip and its memory
  int compute_capability = 0;       ///< as in GpuInfo
  std::uint32_t shared_bytes = 0;   ///< shared memory that a block may have
};

/// The cards that plans are made for, oldest first.
KITH_EXPORT std::span<const GpuCard> known_cards();
/// The card of this name; case, blanks and dashes do not matter. Throws UsageError, which lists the names.
KITH_EXPORT const GpuCard& card_named(std::string_view name);

/// What is to be built and searched: all points in host memory, by L2.
struct JobRequest {
  std::uint64_t points = 0;
  std::uint32_t dims = 3;
  DType dtype = DType::f32;
  std::uint32_t k = 8;
  /// Not given: the points themselves are the queries. 0: nothing is searched.
  std::optional<std::uint64_t> queries = {};
  Engine engine = Engine::automatic;
  /// As in BuildOptions.
  Builder builder = Builder::automatic;
  /// A device of this machine; not looked at if there is a card.
  Device device = Device::automatic();
  const GpuCard* card = nullptr;
  /// What may be taken of the device's memory; 0: what a GPU has free, or all of the CPU's.
  std::uint64_t memory_bytes = 0;
};

/// Where memory does not suffice for all points at once, the job is done in parts: an index for each, searched with all
/// queries, the answers joined by (distance, index).
struct JobPlan {
  Engine engine = Engine::brute_force;  ///< never `automatic`
  std::string device;                   ///< "cpu", "cuda:0" or the name of a card
  bool is_gpu = false;
  std::string reason;              ///< why this engine, in a line for people
  std::uint64_t memory_bytes = 0;  ///< of the device, that may be taken; 0 if that is unknown
  /// The least `memory_bytes` for as few parts as there can be: one up to 2^32 - 2 points. On the CPU it includes
  /// points and queries, and all queries are searched at once.
  std::uint64_t needed_bytes = 0;

  std::uint64_t parts = 0;            ///< 0: not even a single point fits
  std::uint64_t points_per_part = 0;  ///< at most
  bool is_cut_by_kith = false;        ///< brute force on a GPU takes the parts there by itself; else the caller cuts

  /// Of a part, memory of the device: the index, the peak of a build and of a search, which include the index. The
  /// caller's points and queries are not counted; on the CPU the answers are.
  std::uint64_t index_bytes = 0;
  std::uint64_t build_bytes = 0;
  std::uint64_t search_bytes = 0;
  /// The queries go through a GPU in so many chunks, by themselves; on the CPU the caller makes so many calls.
  std::uint64_t chunks = 0;
  std::uint64_t queries_per_chunk = 0;
  /// Points of a part, queries and answers in host memory, on the CPU with the index and what else is needed.
  std::uint64_t host_bytes = 0;

  /// Estimates from measurements of such jobs; without a value where there are none. Copies to and from a GPU are not
  /// counted.
  std::optional<double> build_ms = {};
  std::optional<double> search_ms = {};
};

/// Allocates nothing. Throws UsageError, DeviceError.
KITH_EXPORT JobPlan plan_job(const JobRequest& request);

}  // namespace kith::inline v0
