// See choose_object_engine.hpp.
#include "engine/choose_object_engine.hpp"

#include "engine/backend.hpp"

#include <fmt/format.h>

namespace kith::engine {
namespace {

/// From so many sequences on a cover tree is built and searched sooner than all of them are compared.
constexpr std::uint64_t kFewestForTree = 1000;

/// A tree is built only if at least one in so many sequences asks. Of 102 334 English words by edit distance a query
/// takes 0.34 ms instead of 0.45 ms, which makes up for the build, 2.1 s, from about one in 5 on.
constexpr std::uint64_t kSequencesPerQuery = 5;

bool are_few(const ObjectWish& wish) { return wish.queries > 0 && wish.queries < wish.objects / kSequencesPerQuery; }

/// There bounds by counts of items exclude nearly all sequences as fast as a tree does, which takes time to build.
bool is_on_gpu(const ObjectWish& wish) { return wish.device.kind() == Device::Kind::cuda; }

Engine engine_for(const ObjectWish& wish) {
  if (wish.engine != Engine::automatic) return wish.engine;
  if (wish.content == IndexContent::bits || is_on_gpu(wish) || wish.objects < kFewestForTree || are_few(wish)) {
    return Engine::brute_force;
  }
  return Engine::cover_tree;
}

std::string reason_for(const ObjectWish& wish) {
  if (!wish.reason.empty()) return wish.reason;
  if (wish.engine != Engine::automatic) return "as asked";
  if (wish.content == IndexContent::bits) return "bits are scanned fast; a cover tree pays if rows lie in clusters";
  if (is_on_gpu(wish)) return "a GPU compares all sequences as fast as it searches a tree";
  if (wish.objects >= kFewestForTree && are_few(wish)) {
    return fmt::format("{} queries are compared sooner with {} sequences than a tree is built", wish.queries,
                       wish.objects);
  }
  return fmt::format("{} sequences; a cover tree pays from {} on", wish.objects, kFewestForTree);
}

}  // namespace

Choice choose_object_engine(const ObjectWish& wish) {
  const Engine engine = engine_for(wish);
  if (!cpu_backend().has_objects(engine)) {
    throw UsageError(fmt::format("engine {} does not search {}; use auto, brute or covertree", name_of(engine),
                                 name_of(wish.content)));
  }
  // The device by the rules of brute force, which every device has.
  Choice choice = choose_engine({.engine = Engine::brute_force,
                                 .device = wish.device,
                                 .points = wish.objects,
                                 .dims = 1,
                                 .metric = Metric::l1()});
  choice.change_engine(engine, reason_for(wish));
  if (choice.device == Device::cpu() || backend_of(choice.device).has_objects(engine)) return choice;
  const std::string refusal =
      fmt::format("engine {} searches {} on the CPU only in this version", name_of(engine), name_of(wish.content));
  if (wish.device.kind() == Device::Kind::cuda) throw UsageError(refusal + "; use `device=cpu`");
  choice.fall_back(refusal);
  return choice;
}

}  // namespace kith::engine
