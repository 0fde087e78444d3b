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

bool are_few(const ObjectEngineRequest& wanted) {
  return wanted.queries > 0 && wanted.queries < wanted.objects / kSequencesPerQuery;
}

/// There bounds by counts of items exclude nearly all sequences as fast as a tree does, which takes time to build.
bool is_on_gpu(const ObjectEngineRequest& wanted) { return wanted.device.kind() == Device::Kind::cuda; }

Engine engine_for(const ObjectEngineRequest& wanted) {
  if (wanted.engine != Engine::automatic) return wanted.engine;
  if (wanted.content == IndexContent::bits || is_on_gpu(wanted) || wanted.objects < kFewestForTree || are_few(wanted)) {
    return Engine::brute_force;
  }
  return Engine::cover_tree;
}

std::string reason_for(const ObjectEngineRequest& wanted) {
  if (!wanted.reason.empty()) return wanted.reason;
  if (wanted.engine != Engine::automatic) return "as asked";
  if (wanted.content == IndexContent::bits) return "bits are scanned fast; a cover tree pays if rows lie in clusters";
  if (is_on_gpu(wanted)) return "a GPU compares all sequences as fast as it searches a tree";
  if (wanted.objects >= kFewestForTree && are_few(wanted)) {
    return fmt::format("{} queries are compared sooner with {} sequences than a tree is built", wanted.queries,
                       wanted.objects);
  }
  return fmt::format("{} sequences; a cover tree pays from {} on", wanted.objects, kFewestForTree);
}

}  // namespace

Choice choose_object_engine(const ObjectEngineRequest& wanted) {
  const Engine engine = engine_for(wanted);
  if (!cpu_backend().has_objects(engine)) {
    throw UsageError(fmt::format("engine {} does not search {}; use auto, brute or covertree", name_of(engine),
                                 name_of(wanted.content)));
  }
  // The device by the rules of brute force, which every device has.
  Choice choice = choose_engine({.engine = Engine::brute_force,
                                 .device = wanted.device,
                                 .points = wanted.objects,
                                 .dims = 1,
                                 .metric = Metric::l1()});
  choice.change_engine(engine, reason_for(wanted));
  if (choice.device == Device::cpu() || backend_of(choice.device).has_objects(engine)) return choice;
  const std::string refusal =
      fmt::format("engine {} searches {} on the CPU only in this version", name_of(engine), name_of(wanted.content));
  if (wanted.device.kind() == Device::Kind::cuda) throw UsageError(refusal + "; use `device=cpu`");
  choice.fall_back(refusal);
  return choice;
}

}  // namespace kith::engine
