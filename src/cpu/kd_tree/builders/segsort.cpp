// The builder by sorting: every node is sorted by its dimension, those of a large level together, and cut in the
// middle.
//
// Sorted are quantised coordinates; only the records that share the number of the middle one are then ordered by the
// super-key. Large nodes: one segmented radix sort for all of a level. Then each by itself: a radix sort on one thread;
// few points by insertion.
//
// memory: a second copy of the records; per level each point is read four times and moved twice (few points: half)
#include "cpu/kd_tree/builders/builders.hpp"
#include "cpu/kd_tree/builders/record_nodes.hpp"
#include "cpu/kd_tree/builders/segmented_pass.hpp"
#include "cpu/kd_tree/builders/select_record.hpp"

namespace kith::cpu {
namespace {

template <typename T, typename A>
class Segsort {
 public:
  using Access = A;
  using Record = typename Access::Record;
  static constexpr std::uint32_t kDigits = 1 << kSortBits;

  /// Sorts nodes by themselves.
  struct Task : RecordNodes<T, A> {
    Task(Segsort& method, std::uint32_t, std::uint64_t) : RecordNodes<T, A>(method.nodes_), method_(method) {}

    T split(std::uint32_t, std::uint64_t begin, std::uint64_t middle, std::uint64_t end, std::uint32_t d,
            const T* box) {
      if (end - begin <= kInsertionRecords) {
        sort_by_insertion(this->records + begin, this->records + end, d);
      } else {
        const bool is_large = end - begin >= kTwoPassRecords;
        const auto bits = is_large ? 2 * kSortBits : std::min<std::uint32_t>(kSortBits, std::bit_width(end - begin));
        const auto key = method_.quantised(box, d, bits);
        if (is_large) {
          sort_by_digit(this->records, method_.scratch(), begin, end, d, key, 0, kDigits);
          sort_by_digit(method_.scratch(), this->records, begin, end, d, key, kSortBits, kDigits);
        } else {
          sort_by_digit(this->records, method_.scratch(), begin, end, d, key, 0, 1 << bits);
          std::copy(method_.scratch() + begin, method_.scratch() + end, this->records + begin);
        }
        method_.resolve_middle(begin, middle, end, d, box, key, 1);
      }
      return this->access.at(this->records[middle], d);
    }

   private:
    void sort_by_insertion(Record* first, Record* last, std::uint32_t d) const {
      for (Record* next = first; next < last; ++next) {
        const Record record = *next;
        Record* place = next;
        for (; place != first && split::precedes(this->access, record, place[-1], d); --place) *place = place[-1];
        *place = record;
      }
    }

    void sort_by_digit(const Record* from, Record* to, std::uint64_t begin, std::uint64_t end, std::uint32_t d,
                       const Quantised<T>& key, std::uint32_t shift, std::uint32_t digits) const {
      const auto digit_of = method_.digit(d, key, shift, digits);
      std::array<std::uint32_t, kDigits> places;
      std::fill_n(places.begin(), digits, 0u);
      for (std::uint64_t i = begin; i < end; ++i) ++places[digit_of(from[i])];
      auto next = static_cast<std::uint32_t>(begin);
      for (std::uint32_t digit = 0; digit < digits; ++digit) next += std::exchange(places[digit], next);
      for (std::uint64_t i = begin; i < end; ++i) to[places[digit_of(from[i])]++] = from[i];
    }

    Segsort& method_;
  };

  Segsort(TreeFrame<T>& frame, Access access, Record* records)
      : frame_(frame), nodes_{access, records}, scratch_(frame.geometry().points * sizeof(Record)) {}

  bool splits_level(std::uint32_t level) const { return frame_.is_top(level); }

  void split_level(std::uint32_t level, T* boxes, T* next) {
    struct Plan {
      std::uint32_t d;
      Quantised<T> key;
    };
    const core::KdGeometry& geometry = frame_.geometry();
    const std::uint64_t nodes = std::uint64_t{1} << level;
    const std::uint32_t values = 2 * frame_.dims();
    const auto first = [&](std::uint64_t j) { return geometry.first(level, j); };
    std::vector<Plan> plans(nodes);
    frame_.for_nodes(level, [&](std::uint64_t j, int threads) {
      T* box = boxes + j * values;
      RecordNodes<T, A> own = nodes_;
      own.threads = threads;
      if (level % core::kTightBoxEvery == 0) own.tighten(first(j), first(j + 1), box);
      const std::uint32_t d = frame_.split_dim(level, box);
      plans[j] = {d, quantised(box, d, 2 * kSortBits)};
    });
    const Segments segments(nodes, first);
    const auto pass = [&](const Record* from, Record* to, std::uint32_t shift) {
      segmented_pass(
          segments, kDigits, from, to, [&](std::uint64_t j) { return digit(plans[j].d, plans[j].key, shift, kDigits); },
          frame_.threads());
    };
    pass(nodes_.records, scratch(), 0);
    pass(scratch(), nodes_.records, kSortBits);
    frame_.for_nodes(level, [&](std::uint64_t j, int threads) {
      const std::uint64_t middle = geometry.first(level + 1, 2 * j + 1);
      const auto [d, key] = plans[j];
      resolve_middle(first(j), middle, first(j + 1), d, boxes + j * values, key, threads);
      frame_.cut(level, j, d, nodes_.access.at(nodes_.records[middle], d), boxes + j * values, next + 2 * j * values);
    });
  }
  void end_levels() {}
  Access access() const { return nodes_.access; }

 private:
  Record* scratch() { return scratch_.template as<Record>().data(); }
  Quantised<T> quantised(const T* box, std::uint32_t d, std::uint32_t bits) const {
    return Quantised<T>::between(box[d], box[frame_.dims() + d], bits);
  }

  /// A function with copies of what it needs, so that it is not read again for each record.
  auto digit(std::uint32_t d, Quantised<T> key, std::uint32_t shift, std::uint32_t digits) const {
    return [access = nodes_.access, d, key, shift, mask = digits - 1](const Record& record) {
      return key(access.at(record, d)) >> shift & mask;
    };
  }

  /// Of a node sorted by the key: puts the records whose number is that of the middle one right.
  void resolve_middle(std::uint64_t begin, std::uint64_t middle, std::uint64_t end, std::uint32_t d, const T* box,
                      const Quantised<T>& key, int threads) {
    Record* records = nodes_.records;
    const auto number_of = [&](const Record& record) { return key(nodes_.access.at(record, d)); };
    const std::uint32_t number = number_of(records[middle]);
    Record* first = std::partition_point(records + begin, records + middle,
                                         [&](const Record& record) { return number_of(record) < number; });
    Record* last = std::partition_point(records + middle, records + end,
                                        [&](const Record& record) { return number_of(record) == number; });
    select_record<T>(nodes_.access, first, records + middle, last, d, box, threads);
  }

  TreeFrame<T>& frame_;
  RecordNodes<T, A> nodes_;
  runtime::LargeBuffer scratch_;
};

}  // namespace

template <typename T>
void build_by_segsort(TreeFrame<T>& frame, const T* rows) {
  with_records(frame, rows, [&](auto access, auto* records) {
    Segsort<T, decltype(access)> method(frame, access, records);
    frame.run(method);
  });
}

template <typename T>
std::uint64_t segsort_storage(const TreeToBuild& tree) {
  const std::uint64_t points = tree.geometry.points, records = record_bytes(points, tree.dims);
  return records + (records == 0 ? points * KdTree<T>::point_bytes_of(tree.dims) : records);
}

template void build_by_segsort(TreeFrame<float>&, const float*);
template void build_by_segsort(TreeFrame<double>&, const double*);
template std::uint64_t segsort_storage<float>(const TreeToBuild&);
template std::uint64_t segsort_storage<double>(const TreeToBuild&);

}  // namespace kith::cpu
