// The builder by selection: each node is split around the record of its rank, in place.
//
// memory: none but the records; per level each point is read about 2.5 times and moved once or twice
#include "cpu/kd_tree/builders/builders.hpp"
#include "cpu/kd_tree/builders/record_nodes.hpp"
#include "cpu/kd_tree/builders/select_record.hpp"

namespace kith::cpu {
namespace {

template <typename T, typename A>
class Select {
 public:
  using Access = A;
  using Record = typename Access::Record;

  struct Task : RecordNodes<T, A> {
    explicit Task(const RecordNodes<T, A>& nodes) : RecordNodes<T, A>(nodes) {}
    Task(Select& method, std::uint32_t, std::uint64_t) : RecordNodes<T, A>(method.nodes_) {}

    T split(std::uint32_t, std::uint64_t begin, std::uint64_t middle, std::uint64_t end, std::uint32_t d,
            const T* box) {
      Record* all = this->records;
      select_record<T>(this->access, all + begin, all + middle, all + end, d, box, this->threads);
      return this->access.at(all[middle], d);
    }
  };

  Select(TreeFrame<T>& frame, Access access, Record* records) : frame_(frame), nodes_{access, records} {}

  bool splits_level(std::uint32_t level) const { return frame_.is_top(level); }
  void split_level(std::uint32_t level, T* boxes, T* next) {
    const std::uint32_t values = 2 * frame_.dims();
    frame_.for_nodes(level, [&](std::uint64_t j, int threads) {
      Task splitter(nodes_);
      splitter.threads = threads;
      frame_.split_node(level, j, boxes + j * values, next + 2 * j * values, splitter);
    });
  }
  void end_levels() {}
  Access access() const { return nodes_.access; }

 private:
  TreeFrame<T>& frame_;
  RecordNodes<T, A> nodes_;
};

}  // namespace

template <typename T>
void build_by_select(TreeFrame<T>& frame, const T* rows) {
  with_records(frame, rows, [&](auto access, auto* records) {
    Select<T, decltype(access)> method(frame, access, records);
    frame.run(method);
  });
}

template <typename T>
std::uint64_t select_storage(const TreeToBuild& tree) {
  return record_bytes(tree.geometry.points, tree.dims);
}

template void build_by_select(TreeFrame<float>&, const float*);
template void build_by_select(TreeFrame<double>&, const double*);
template std::uint64_t select_storage<float>(const TreeToBuild&);
template std::uint64_t select_storage<double>(const TreeToBuild&);

}  // namespace kith::cpu
