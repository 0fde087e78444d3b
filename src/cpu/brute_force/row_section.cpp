// See row_section.hpp.
#include "cpu/brute_force/row_section.hpp"

#include "engine/index_file/validate_section.hpp"

#include <kith/point_set.hpp>

#include <algorithm>
#include <memory>

namespace kith::cpu {

using engine::SectionId;

template <typename T>
void save_rows(const PackedPoints<T>& points, engine::IndexFileWriter& writer, int threads) {
  const auto rows = std::make_shared<PointSet>(dtype_of<T>, points.count(), points.dims());
  points.unpack_all(rows->template values<T>().data(), threads);
  writer.add(SectionId::rows, std::as_const(*rows).template values<T>(), std::max(1u, points.dims()), rows);
}

template <typename T>
const T* checked_rows(const engine::LoadRequest& request) {
  const engine::IndexFile& file = request.file;
  const engine::IndexFacts& facts = file.facts();
  file.require_only({SectionId::rows, SectionId::original, SectionId::period, SectionId::metric_params});
  engine::require_zero_parameters(file, 0);
  const std::span<const T> rows = file.values<T>(SectionId::rows, facts.points, std::max(1u, facts.dims));
  if (!file.is_trusted()) {
    engine::require_finite(file, SectionId::rows, rows, request.run.threads);
    engine::require_inside(file, rows, request.lengths<T>(), request.run.threads);
  }
  return rows.data();
}

template void save_rows(const PackedPoints<float>&, engine::IndexFileWriter&, int);
template void save_rows(const PackedPoints<double>&, engine::IndexFileWriter&, int);
template const float* checked_rows<float>(const engine::LoadRequest&);
template const double* checked_rows<double>(const engine::LoadRequest&);

}  // namespace kith::cpu
