// What rows of bits and sequences have in common as contents: distances are f32 and compared as they are, nothing is
// left out, and brute force or a cover tree searches them.
#pragma once

#include "engine/backend.hpp"
#include "engine/choose_object_engine.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/search_content.hpp"
#include "runtime/memory_limit.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <string_view>

namespace kith::engine {

template <typename View>
struct ObjectContent {
  /// In the manner of L1, whose values are the distances themselves.
  static SearchSubject subject_called(std::string_view metric) { return {.metric = Metric::l1(), .name = metric}; }
  template <typename Call>
  static auto visit(const StateOf<View>&, const Call& call) {
    return call(0.0f);
  }
  template <typename T>
  static const auto& searcher(const StateOf<View>& state) {
    return *state.searcher;
  }
  static SearchedTree searched_tree(const StateOf<View>&) { return {}; }
  static void translate(const StateOf<View>&, const SearchOptions&, std::uint64_t, std::uint32_t*, float*) {}
};

/// Throws UsageError for options that mean something to points only.
inline void require_object_options(const BuildOptions& options, std::string_view what) {
  require_build_options(options);
  const auto refuse = [&](std::string_view option) {
    throw UsageError(fmt::format("{} is for points, not for {}", option, what));
  };
  if (options.split != SplitRule::widest) refuse("split");
  if (options.builder != Builder::automatic) refuse("builder");
  if (!options.period.empty()) refuse("period");
}

/// What building an index of so many objects takes on the CPU at most, with the copy of all rows of `bytes`: they are
/// there in the order of the engine, too. A cover tree has at most two nodes for each, with their centres.
inline std::uint64_t object_build_bytes(Engine engine, std::uint64_t objects, std::uint64_t bytes) {
  const std::uint64_t signatures = objects * sizeof(std::uint64_t);
  if (engine == Engine::brute_force) return 2 * bytes + signatures;
  return 4 * bytes + 3 * signatures + 2 * objects * (2 * sizeof(CoverNode) + sizeof(std::uint32_t) + sizeof(double));
}

/// Chooses engine and device, and puts what make(choice) returns into the state.
template <typename State, typename Make>
void make_searcher(State& state, const ObjectEngineRequest& wanted, WorkTimes* times, const Make& make) {
  Choice choice = timed_choice(times, [&] { return choose_object_engine(wanted); });
  make_or_fall_back(wanted.device, choice, times, [&](const Choice& chosen) { state.searcher = make(chosen); });
  state.engine = choice.engine;
  state.device = choice.device;
  state.reason = choice.reason;
}

template <typename State, typename Rows>
void build_searcher(State& state, const ObjectEngineRequest& wanted, ObjectBuildRequest<Rows> request,
                    std::uint64_t bytes) {
  make_searcher(state, wanted, request.run.times, [&](const Choice& chosen) {
    request.engine = chosen.engine;
    request.device = chosen.device;
    if (chosen.device == Device::cpu()) {
      runtime::require_allowed(object_build_bytes(chosen.engine, wanted.objects, bytes), "building the index");
    }
    return with_memory(bytes, "the index", [&] { return backend_of(chosen.device).build_objects(request); });
  });
}

/// For the rows of a file, which are checked.
template <typename State, typename Rows>
void load_searcher(State& state, const IndexFile& file, const Rows& rows, const LoadOptions& options) {
  const IndexFacts& facts = file.facts();
  const ObjectEngineRequest wanted{.engine = facts.engine,
                                   .device = device_for(file, options.device),
                                   .objects = facts.rows,
                                   .content = facts.content,
                                   .reason = loaded_text(file)};
  make_searcher(state, wanted, options.times, [&](const Choice& chosen) {
    return backend_of(chosen.device)
        .load_objects({file, ObjectBuildRequest<Rows>{.engine = facts.engine,
                                                      .metric = facts.sequence_metric,
                                                      .rows = rows,
                                                      .owner = file.owner(),
                                                      .device = chosen.device,
                                                      .run = {options.threads, &options.progress, options.times}}});
  });
}

}  // namespace kith::engine
