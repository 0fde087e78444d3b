// The default builder: the value at the rank is found among numbers alone, by a bracket from a sample and counts, then
// one pass moves the records (split/split_records.hpp).
//
// memory: 1.25 values per point at the top levels, then two for each point of a subtree; per level each point is read
// twice and moved once at most
#include "cpu/kd_tree/builders/builders.hpp"
#include "cpu/kd_tree/builders/record_nodes.hpp"

namespace kith::cpu {
namespace {

/// The keys of the second look are one in so many: the bracket of a large node holds a tenth of it; that of a small one
/// has more.
template <typename T>
std::uint64_t share_looked_again(std::uint64_t points) {
  return points >> TreeFrame<T>::kTopLevels >= split::kSmallNode ? 4 : 1;
}

template <typename T, typename A>
class Histogram {
 public:
  using Access = A;
  using Record = typename Access::Record;
  using Keys = split::KeyStorage<T>;

  Histogram(TreeFrame<T>& frame, Access access, Record* records)
      : frame_(frame),
        nodes_{access, records},
        looked_again_(share_looked_again<T>(points())),
        first_(sizeof(T) * points()),
        second_(sizeof(T) * (points() / looked_again_ + (1 << kTopLevels))) {}

  bool splits_level(std::uint32_t level) const { return frame_.is_top(level); }
  void split_level(std::uint32_t level, T* boxes, T* next) {
    const std::uint32_t values = 2 * frame_.dims();
    frame_.for_nodes(level, [&](std::uint64_t j, int threads) {
      const std::uint64_t begin = frame_.geometry().first(level, j), end = frame_.geometry().first(level, j + 1);
      Splitter splitter{nodes_,
                        {first_.template as<T>().data() + begin,
                         second_.template as<T>().data() + begin / looked_again_ + j, (end - begin) / looked_again_}};
      splitter.threads = threads;
      frame_.split_node(level, j, boxes + j * values, next + 2 * j * values, splitter);
    });
  }
  void end_levels() {
    first_ = {};
    second_ = {};
  }
  Access access() const { return nodes_.access; }

 private:
  static constexpr std::uint32_t kTopLevels = TreeFrame<T>::kTopLevels;

  std::uint64_t points() const { return frame_.geometry().points; }

  struct Splitter : RecordNodes<T, A> {
    Splitter(const RecordNodes<T, A>& nodes, const Keys& storage) : RecordNodes<T, A>(nodes), keys(storage) {}

    T split(std::uint32_t, std::uint64_t begin, std::uint64_t middle, std::uint64_t end, std::uint32_t d, const T*) {
      Record* all = this->records;
      return this->threads > 1 && split::is_split_in_parallel(end - begin)
                 ? split::split_in_parallel<T>(this->access, all + begin, all + middle, all + end, d, keys,
                                               this->threads)
                 : split::split_records<T>(this->access, all + begin, all + middle, all + end, d, keys);
    }

    Keys keys;
  };

 public:
  /// Splits with keys of its own.
  class Task : public Splitter {
   public:
    Task(Histogram& method, std::uint32_t level, std::uint64_t j)
        : Splitter(method.nodes_, {}),
          memory_(2 * (method.frame_.geometry().first(level, j + 1) - method.frame_.geometry().first(level, j))) {
      this->keys = {memory_.data(), memory_.data() + memory_.size() / 2, memory_.size() / 2};
    }

   private:
    std::vector<T> memory_;
  };

 private:
  TreeFrame<T>& frame_;
  RecordNodes<T, A> nodes_;
  std::uint64_t looked_again_;
  runtime::LargeBuffer first_, second_;
};

}  // namespace

template <typename T>
void build_by_histogram(TreeFrame<T>& frame, const T* rows) {
  with_records(frame, rows, [&](auto access, auto* records) {
    Histogram<T, decltype(access)> method(frame, access, records);
    frame.run(method);
  });
}

template <typename T>
std::uint64_t histogram_storage(const TreeToBuild& tree) {
  const std::uint64_t points = tree.geometry.points;
  // The top levels have 1.25 keys for each point, of few points 2, but no boxes yet; then each thread has 2 for each
  // point of a subtree.
  const std::uint64_t not_yet = tree.box_bytes<T>();
  const std::uint64_t top = sizeof(T) * (points + points / share_looked_again<T>(points));
  const auto subtrees = std::min<std::uint64_t>(static_cast<std::uint64_t>(runtime::resolve_threads(tree.threads)), 64);
  const std::uint64_t bottom = 2 * sizeof(T) * (points * subtrees / 64);
  return record_bytes(points, tree.dims) + std::max(top - std::min(top, not_yet), bottom);
}

template void build_by_histogram(TreeFrame<float>&, const float*);
template void build_by_histogram(TreeFrame<double>&, const double*);
template std::uint64_t histogram_storage<float>(const TreeToBuild&);
template std::uint64_t histogram_storage<double>(const TreeToBuild&);

}  // namespace kith::cpu
