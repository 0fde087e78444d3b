// BitIndex and the rows of bits that it takes.
#include "any_index.hpp"
#include "module.hpp"

#include <kith/bit_index.hpp>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using PackedRows = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Packed rows of a NumPy array, which this keeps alive.
class BitRows {
 public:
  BitRows(PackedRows array, std::uint32_t bits) : array_(std::move(array)), bits_(bits) {
    if (array_.shape(1) != (std::uint64_t{bits} + 7) / 8) throw nb::value_error("rows of bits: wrong number of bytes");
  }
  BitView view() const { return BitView(array_.data(), array_.shape(0), bits_); }

 private:
  PackedRows array_;
  std::uint32_t bits_;
};

BitIndex build(const BitRows& rows, const std::string& engine, const std::string& device, std::uint32_t leaf_size,
               std::uint64_t expected_queries, int threads, nb::object progress) {
  Watch watch(std::move(progress));
  BuildOptions options = object_options(engine, device, leaf_size, expected_queries, threads);
  options.progress = watch.callback();
  return watch.run([&] { return BitIndex::build(rows.view(), options); });
}

nb::object packed_rows(const BitIndex& index) {
  Watch watch;
  std::vector<std::uint8_t>* kept = nullptr;
  const nb::capsule owner = keep(watch.run([&] { return index.packed_rows(); }), &kept);
  return numpy_over<std::uint8_t>(kept->data(), {index.size(), (std::uint64_t{index.bits()} + 7) / 8}, owner);
}

}  // namespace

void bind_bit_index(nb::module_& module) {
  nb::class_<BitRows>(module, "BitRows").def(nb::init<PackedRows, std::uint32_t>(), "array"_a, "bits"_a);
  nb::class_<BitIndex> index(module, "BitIndex");
  index.def_static("build", &build, "rows"_a, nb::kw_only(), "engine"_a = "auto", "device"_a = "auto",
                   "leaf_size"_a = 0, "expected_queries"_a = 0, "threads"_a = 0, "progress"_a = nb::none());
  bind_any_index<ObjectQueries<BitRows>>(index);
  index.def("packed_rows", &packed_rows);
  index.def_prop_ro("bits", &BitIndex::bits);
  index.def_prop_ro("metric", [](const BitIndex&) { return "hamming"; });
}

}  // namespace kith::python
