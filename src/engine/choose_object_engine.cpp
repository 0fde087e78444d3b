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

bool are_few(const ObjectEngineRequest& request) {
  return request.queries > 0 && request.queries < request.objects / kSequencesPerQuery;
}

/// There bounds by counts of items exclude nearly all sequences as fast as a tree does, which takes time to build.
bool is_on_gpu(const ObjectEngineRequest& request) { return request.device.kind() == Device::Kind::cuda; }

Engine engine_for(const ObjectEngineRequest& request) {
  if (request.engine != Engine::automatic) return request.engine;
  if (request.content == IndexContent::bits || is_on_gpu(request) || request.objects < kFewestForTree ||
      are_few(request)) {
    return Engine::brute_force;
  }
  return Engine::cover_tree;
}

std::string reason_for(const ObjectEngineRequest& request) {
  if (!request.reason.empty()) return request.reason;
  if (request.engine != Engine::automatic) return "as asked";
  if (request.content == IndexContent::bits) return "bits are scanned fast; a cover tree pays if rows lie in clusters";
  if (is_on_gpu(request)) return "a GPU compares all sequences as fast as it searches a tree";
  if (request.objects >= kFewestForTree && are_few(request)) {
    return fmt::format("{} queries are compared sooner with {} sequences than a tree is built", request.queries,
                       request.objects);
  }
  return fmt::format("{} sequences; a cover tree pays from {} on", request.objects, kFewestForTree);
}

}  // namespace

Choice choose_object_engine(const ObjectEngineRequest& request) {
  const Engine engine = engine_for(request);
  if (!cpu_backend().has_objects(engine)) {
    throw UsageError(fmt::format("engine {} does not search {}; use auto, brute or covertree", name_of(engine),
                                 name_of(request.content)));
  }
  // The device by the rules of brute force, which every device has.
  Choice choice = choose_engine({.engine = Engine::brute_force,
                                 .device = request.device,
                                 .points = request.objects,
                                 .dims = 1,
                                 .metric = Metric::l1()});
  choice.change_engine(engine, reason_for(request));
  if (choice.device == Device::cpu() || backend_of(choice.device).has_objects(engine)) return choice;
  const std::string refusal =
      fmt::format("engine {} searches {} on the CPU only in this version", name_of(engine), name_of(request.content));
  if (request.device.kind() == Device::Kind::cuda) throw UsageError(refusal + "; use `device=cpu`");
  choice.fall_back(refusal);
  return choice;
}

}  // namespace kith::engine
