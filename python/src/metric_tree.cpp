// kith::CoverTree over objects of Python and a function of Python that measures them. The GIL is held throughout.
#include "arrays.hpp"
#include "module.hpp"
#include "object_items.hpp"

#include <kith/cover_tree.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

/// An object as the tree sees it; MetricTree owns it. `number` is what Python calls it.
struct Borrowed {
  PyObject* value = nullptr;
  std::uint64_t number = 0;
  friend bool operator==(const Borrowed& a, const Borrowed& b) { return a.value == b.value; }
};

/// Calls the function, and obeys Ctrl-C.
struct PythonMetric {
  nb::object function;

  double operator()(const Borrowed& a, const Borrowed& b) const {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::object result = function(nb::handle(a.value), nb::handle(b.value));
    const double distance = PyFloat_AsDouble(result.ptr());
    if (distance == -1.0 && PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      throw nb::type_error(fmt::format("the metric must return a number, not {}", name_of_type(result)).c_str());
    }
    return distance;
  }
};

class MetricTree {
 public:
  MetricTree(nb::object function, std::optional<std::pair<double, double>> rounding)
      : tree_(PythonMetric{std::move(function)},
              rounding ? MetricRounding{rounding->first, rounding->second} : MetricRounding::standard<double>()) {}

  std::uint64_t insert(nb::object object) { return insert_as(std::move(object), next_); }

  /// Under a number of the caller's, higher than any before.
  std::uint64_t insert_as(nb::object object, std::uint64_t number) {
    if (number < next_) throw nb::value_error("numbers of objects must ascend");
    const Change change(*this);
    const auto place = objects_.emplace(number, Held{std::move(object), 0}).first;
    try {
      place->second.id = tree_.insert({place->second.object.ptr(), number});
    } catch (...) {
      objects_.erase(place);
      throw;
    }
    next_ = number + 1;
    return number;
  }

  /// The next object gets this number, if it is higher than any before.
  void number_from(std::uint64_t number) { next_ = std::max(next_, number); }

  /// A tree of the same objects that changes by itself.
  MetricTree copy() const {
    const Search search(*this);
    MetricTree other(*this);
    other.searches_ = 0;
    return other;
  }

  bool remove(std::uint64_t number) {
    nb::object removed;  // destroyed last: that may run code of Python
    const Change change(*this);
    const auto found = objects_.find(number);
    if (found == objects_.end()) return false;
    tree_.remove(found->second.id);
    removed = std::move(found->second.object);
    objects_.erase(found);
    return true;
  }

  nb::tuple knn(const nb::tuple& queries, std::uint32_t k, double eps, double max_distance,
                const std::optional<Values<std::int64_t>>& but) const {
    if (!(max_distance >= 0)) throw nb::value_error("max_distance must be at least 0");
    require_answer_memory(queries.size(), k, sizeof(double) + sizeof(std::int64_t));
    const Search search(*this);
    const FreshArray<double> distances({queries.size(), k});
    const FreshArray<std::int64_t> numbers({queries.size(), k});
    double* distance = distances.values;
    std::int64_t* number = numbers.values;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::size_t wanted = std::min(std::size_t{k} + (but ? 1 : 0), size());
      std::vector<NearObject> found = numbered(tree_.knn(as_query(queries, q), wanted, eps));
      leave_out(found, but, q, k);
      while (!found.empty() && found.back().distance > max_distance) found.pop_back();
      for (std::uint32_t j = 0; j < k; ++j) {
        *distance++ = j < found.size() ? found[j].distance : std::numeric_limits<double>::infinity();
        *number++ = static_cast<std::int64_t>(j < found.size() ? found[j].id : next_);
      }
    }
    return nb::make_tuple(distances.array, numbers.array);
  }

  nb::tuple radius(const nb::tuple& queries, const Values<double>& radii, std::uint32_t max_neighbors,
                   const std::optional<Values<std::int64_t>>& but) const {
    const Search search(*this);
    require_one_each(queries, radii);
    std::vector<NearObject> all;
    std::vector<std::uint64_t> offsets = {0};
    for (std::size_t q = 0; q < queries.size(); ++q) {
      std::vector<NearObject> found = numbered(tree_.radius(as_query(queries, q), radii.data()[q]));
      leave_out(found, but, q, max_neighbors == 0 ? found.size() : max_neighbors);
      all.insert(all.end(), found.begin(), found.end());
      offsets.push_back(all.size());
    }
    const FreshArray<double> distances({all.size()});
    const FreshArray<std::int64_t> numbers({all.size()});
    for (std::size_t i = 0; i < all.size(); ++i) {
      distances.values[i] = all[i].distance;
      numbers.values[i] = static_cast<std::int64_t>(all[i].id);
    }
    return nb::make_tuple(distances.array, numbers.array, numpy_int64(offsets));
  }

  nb::object count(const nb::tuple& queries, const Values<double>& radii) const {
    const Search search(*this);
    require_one_each(queries, radii);
    const FreshArray<std::int64_t> counts({queries.size()});
    for (std::size_t q = 0; q < queries.size(); ++q) {
      counts.values[q] = static_cast<std::int64_t>(tree_.count(as_query(queries, q), radii.data()[q]));
    }
    return counts.array;
  }

  nb::object numbers() const {
    std::vector<std::uint64_t> all;
    all.reserve(objects_.size());
    for (const auto& [number, held] : objects_) all.push_back(number);
    std::sort(all.begin(), all.end());
    return numpy_int64(all);
  }

  nb::object object(std::uint64_t number) const {
    const auto found = objects_.find(number);
    if (found == objects_.end()) {
      throw nb::key_error(fmt::format("there is no object {}; it was removed or never inserted", number).c_str());
    }
    return found->second.object;
  }

  std::string first_violation() const {
    const Search search(*this);
    return tree_.check();
  }

  std::size_t size() const { return objects_.size(); }
  std::uint64_t next() const { return next_; }
  std::uint64_t evaluations() const { return tree_.evaluations(); }
  nb::object function() const { return tree_.metric().function; }
  std::pair<double, double> rounding() const { return {tree_.rounding().relative, tree_.rounding().absolute}; }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(tree_.metric().function.ptr());
    for (const auto& [number, held] : objects_) Py_VISIT(held.object.ptr());
    return 0;
  }
  void clear() {
    Tree empty(PythonMetric{nb::none()});
    std::swap(tree_, empty);
    std::unordered_map<std::uint64_t, Held> released;
    std::swap(objects_, released);
  }

 private:
  using Tree = CoverTree<Borrowed, PythonMetric>;
  using Id = Tree::Id;

  struct Held {
    nb::object object;
    Id id;
  };

  // While a metric of Python runs, other threads may, and it may itself call the tree: many searches, or one change.
  struct Search {
    explicit Search(const MetricTree& tree) : tree_(tree) {
      if (tree.is_changing_) refuse();
      ++tree.searches_;
    }
    ~Search() { --tree_.searches_; }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

   private:
    const MetricTree& tree_;
  };
  struct Change {
    explicit Change(MetricTree& tree) : tree_(tree) {
      if (tree.is_changing_ || tree.searches_ != 0) refuse();
      tree.is_changing_ = true;
    }
    ~Change() { tree_.is_changing_ = false; }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    MetricTree& tree_;
  };
  [[noreturn]] static void refuse() {
    throw std::runtime_error("the tree is used while it changes, by another thread or by its metric; use a lock");
  }

  static Borrowed as_query(const nb::tuple& queries, std::size_t q) { return {nb::handle(queries[q]).ptr(), 0}; }

  static void require_one_each(const nb::tuple& queries, const Values<double>& radii) {
    if (radii.size() != queries.size()) throw nb::value_error("radius: one for each query is needed");
  }

  /// Ids of the tree become the caller's numbers, which are in the same order.
  std::vector<NearObject> numbered(std::vector<NearObject> found) const {
    for (NearObject& object : found) object.id = tree_.object(object.id).number;
    return found;
  }

  static void leave_out(std::vector<NearObject>& found, const std::optional<Values<std::int64_t>>& but, std::size_t q,
                        std::size_t most) {
    if (but) {
      const auto number = static_cast<std::uint64_t>(but->data()[q]);
      std::erase_if(found, [number](const NearObject& object) { return object.id == number; });
    }
    if (found.size() > most) found.resize(most);
  }

  Tree tree_;
  std::unordered_map<std::uint64_t, Held> objects_;  // by number
  std::uint64_t next_ = 0;
  bool is_changing_ = false;
  mutable int searches_ = 0;
};

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<MetricTree>(self)->traverse(visit, arg);
}

int clear(PyObject* self) noexcept {
  if (nb::inst_ready(self)) nb::inst_ptr<MetricTree>(self)->clear();
  return 0;
}

// A metric often refers to what holds the tree: the garbage collector must see both.
PyType_Slot garbage_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

void bind_metric_tree(nb::module_& module) {
  nb::class_<MetricTree>(module, "MetricTree", nb::type_slots(garbage_slots))
      .def(nb::init<nb::object, std::optional<std::pair<double, double>>>(), "function"_a, "rounding"_a = nb::none())
      .def("insert", &MetricTree::insert, "object"_a.none())
      .def("insert_as", &MetricTree::insert_as, "object"_a.none(), "number"_a)
      .def("number_from", &MetricTree::number_from, "number"_a)
      .def("copy", &MetricTree::copy)
      .def("remove", &MetricTree::remove, "number"_a)
      .def("knn", &MetricTree::knn, "queries"_a, "k"_a, "eps"_a, "max_distance"_a, "but"_a.none())
      .def("radius", &MetricTree::radius, "queries"_a, "radii"_a, "max_neighbors"_a, "but"_a.none())
      .def("count", &MetricTree::count, "queries"_a, "radii"_a)
      .def("numbers", &MetricTree::numbers)
      .def("object", &MetricTree::object, "number"_a)
      .def("first_violation", &MetricTree::first_violation)
      .def_prop_ro("size", &MetricTree::size)
      .def_prop_ro("next", &MetricTree::next)
      .def_prop_ro("evaluations", &MetricTree::evaluations)
      .def_prop_ro("function", &MetricTree::function)
      .def_prop_ro("rounding", &MetricTree::rounding);
}

}  // namespace kith::python
