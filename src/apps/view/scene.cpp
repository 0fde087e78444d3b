// See scene.hpp. The format is described in README.md.
#include "apps/view/scene.hpp"

#include "apps/usable_rows.hpp"
#include "apps/view/color_choice.hpp"
#include "apps/view/column_groups.hpp"

#include <kith/error.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

constexpr std::uint64_t kExactNumbers = std::uint64_t{1} << 20;  // up to so many nothing is rounded
constexpr std::uint32_t kNoRow = 0xffffffff;
constexpr std::size_t kNamedInTitle = 3;

void check_clouds(std::span<const ViewedCloud> clouds) {
  if (clouds.empty()) throw UsageError("there is no cloud to show");
  for (const ViewedCloud& cloud : clouds) {
    require_host_points(cloud.points, "show them");
    const std::uint32_t dims = cloud.points.dims();
    if (dims < 1 || dims > 3) {
      throw UsageError(fmt::format("{}: points of {} dims cannot be shown; choose 1 to 3 columns", cloud.name, dims));
    }
    for (const io::Column& column : cloud.columns) {
      if (column.rows() == cloud.points.rows()) continue;
      throw UsageError(fmt::format("{}: column \"{}\" has {} rows, the points {}", cloud.name, column.name(),
                                   column.rows(), cloud.points.rows()));
    }
    if (!cloud.row_numbers.empty() && cloud.row_numbers.size() != cloud.points.rows()) {
      throw UsageError(
          fmt::format("{}: {} row numbers for {} points", cloud.name, cloud.row_numbers.size(), cloud.points.rows()));
    }
    if (cloud.neighbors == nullptr) continue;
    if (cloud.neighbors_of >= clouds.size()) {
      throw UsageError(fmt::format("{}: neighbours in cloud {} of {}", cloud.name, cloud.neighbors_of, clouds.size()));
    }
    const ViewedCloud& searched = clouds[cloud.neighbors_of];
    if (cloud.neighbors->queries() != cloud.points.rows()) {
      throw UsageError(fmt::format("{}: neighbours of {} points, but there are {}", cloud.name,
                                   cloud.neighbors->queries(), cloud.points.rows()));
    }
    if (cloud.neighbors->missing() != searched.points.rows()) {
      throw UsageError(fmt::format("{}: neighbours among {} points, but {} has {}", cloud.name,
                                   cloud.neighbors->missing(), searched.name, searched.points.rows()));
    }
  }
}

std::string title_of(std::span<const ViewedCloud> clouds) {
  std::string title;
  for (std::size_t i = 0; i < std::min(clouds.size(), kNamedInTitle); ++i) {
    title += fmt::format("{}{}", i == 0 ? "" : ", ", clouds[i].name);
  }
  if (clouds.size() > kNamedInTitle) title += fmt::format(" and {} more", clouds.size() - kNamedInTitle);
  return title;
}

std::uint64_t numbers_of(std::span<const ViewedCloud> clouds) {
  std::uint64_t count = 0;
  for (const ViewedCloud& cloud : clouds) count += cloud.points.rows() * (cloud.points.dims() + cloud.columns.size());
  return count;
}

std::uint32_t number_of(const ViewedCloud& cloud, std::uint32_t row) {
  return cloud.row_numbers.empty() ? row : cloud.row_numbers[row];
}

/// Puts one cloud into the scene. Arrays are described when all are encoded: until then their blocks stand for them.
class CloudWriter {
 public:
  CloudWriter(std::span<const ViewedCloud> clouds, std::size_t which, Closeness closeness, StoredArrays& arrays,
              std::vector<std::string>& notes)
      : clouds_(clouds), cloud_(clouds[which]), closeness_(closeness), arrays_(arrays), notes_(notes) {}

  nlohmann::ordered_json write(int threads) {
    *rows_ = usable_rows(cloud_.points, {.skip = true, .threads = threads});
    nlohmann::ordered_json json;
    json["name"] = cloud_.name;
    json["count"] = rows_->size();
    json["dims"] = cloud_.points.dims();
    const std::uint64_t left_out = cloud_.points.rows() - rows_->size();
    if (left_out > 0) {
      notes_.push_back(fmt::format("{} {} of {} with NaN or infinity {} not shown", left_out,
                                   left_out == 1 ? "point" : "points", cloud_.name, left_out == 1 ? "is" : "are"));
    }
    if (left_out > 0 || !cloud_.row_numbers.empty()) {
      json["rows"] = array(rows_->size(), Closeness::exact, [&cloud = cloud_, rows = rows_](std::span<double> values) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = number_of(cloud, (*rows)[i]);
      });
    }
    for (std::uint32_t d = 0; d < cloud_.points.dims(); ++d) {
      json["axes"].push_back(
          array(rows_->size(), closeness_, [points = cloud_.points, rows = rows_, d](std::span<double> values) {
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = points.at((*rows)[i], d);
          }));
    }
    json["columns"] = nlohmann::ordered_json::array();
    for (const ColumnGroup& group : grouped_columns(cloud_.columns, cloud_.points.dims()))
      add_column(json["columns"], group);
    if (cloud_.pose) json["pose"] = cloud_.pose->matrix;
    if (cloud_.neighbors != nullptr) json["neighbors"] = neighbors();
    return json;
  }

 private:
  std::size_t array(std::uint64_t count, Closeness closeness, StoredArrays::Fill fill) {
    return arrays_.add(count, closeness, std::move(fill));
  }

  void add_column(nlohmann::ordered_json& columns, const ColumnGroup& group) {
    nlohmann::ordered_json json;
    json["name"] = group.name;
    switch (group.kind) {
      case ColumnKind::label: {
        Labels labels = labels_of(*group.parts[0], *rows_);
        if (labels.words.empty() && !rows_->empty()) {
          if (group.parts[0]->is_text()) {
            notes_.push_back(fmt::format("column \"{}\" of {} has more than {} different texts and is left out",
                                         group.name, cloud_.name, kMostLabels));
            return;
          }
          return add_column(columns, {group.name, ColumnKind::number, group.parts});
        }
        json["kind"] = "label";
        json["values"] = array(rows_->size(), Closeness::exact,
                               [codes = std::make_shared<std::vector<std::uint32_t>>(std::move(labels.codes))](
                                   std::span<double> values) { std::ranges::copy(*codes, values.begin()); });
        json["words"] = std::move(labels.words);
        break;
      }
      case ColumnKind::color:
        json["kind"] = "color";
        for (std::size_t part = 0; part < 3; ++part) {
          json["parts"].push_back(
              array(rows_->size(), Closeness::exact, [group, part, rows = rows_](std::span<double> values) {
                std::ranges::copy(color_values(group, part, *rows), values.begin());
              }));
        }
        break;
      case ColumnKind::direction:
        json["kind"] = "direction";
        for (const io::Column* part : group.parts) json["parts"].push_back(numbers(*part));
        break;
      case ColumnKind::number:
        json["kind"] = "number";
        json["values"] = numbers(*group.parts[0]);
        break;
    }
    columns.push_back(std::move(json));
  }

  std::size_t numbers(const io::Column& column) {
    return array(rows_->size(), closeness_, [&column, rows = rows_](std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = column.number((*rows)[i]);
    });
  }

  nlohmann::ordered_json neighbors() {
    const Neighbors& found = *cloud_.neighbors;
    const std::uint64_t k = found.k();
    nlohmann::ordered_json json;
    json["k"] = k;
    json["of"] = cloud_.neighbors_of;
    json["indices"] =
        array(rows_->size() * k, Closeness::exact,
              [&found, k, rows = rows_, &searched = clouds_[cloud_.neighbors_of]](std::span<double> values) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                  const std::uint32_t index = found.indices()[(*rows)[i / k] * k + i % k];
                  values[i] = index == found.missing() ? kNoRow : number_of(searched, index);
                }
              });
    json["distances"] = array(rows_->size() * k, closeness_, [&found, k, rows = rows_](std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = found.distances().at((*rows)[i / k] * k + i % k);
      }
    });
    return json;
  }

  std::span<const ViewedCloud> clouds_;
  const ViewedCloud& cloud_;
  Closeness closeness_;
  StoredArrays& arrays_;
  std::vector<std::string>& notes_;
  std::shared_ptr<std::vector<std::uint32_t>> rows_ = std::make_shared<std::vector<std::uint32_t>>();
};

/// Puts descriptions where blocks stand.
void describe_arrays(nlohmann::ordered_json& cloud, const StoredArrays& arrays) {
  const auto describe = [&arrays](nlohmann::ordered_json& block) {
    block = arrays.description(block.get<std::size_t>());
  };
  const auto step_of = [&arrays](const nlohmann::ordered_json& block) { return arrays.step(block.get<std::size_t>()); };
  if (cloud.contains("rows")) describe(cloud["rows"]);
  nlohmann::ordered_json resolution;
  for (const nlohmann::ordered_json& axis : cloud["axes"]) resolution.push_back(step_of(axis));
  if (std::ranges::any_of(resolution, [](const nlohmann::ordered_json& step) { return step.get<double>() > 0; })) {
    cloud["resolution"] = resolution;
  }
  for (nlohmann::ordered_json& axis : cloud["axes"]) describe(axis);
  for (nlohmann::ordered_json& column : cloud["columns"]) {
    if (column.contains("values")) {
      if (step_of(column["values"]) > 0) column["rounded"] = true;
      describe(column["values"]);
    } else {
      for (nlohmann::ordered_json& part : column["parts"]) describe(part);
    }
  }
  if (!cloud.contains("neighbors")) return;
  nlohmann::ordered_json& neighbors = cloud["neighbors"];
  if (step_of(neighbors["distances"]) > 0) neighbors["rounded"] = true;
  describe(neighbors["indices"]);
  describe(neighbors["distances"]);
}

}  // namespace

nlohmann::ordered_json make_scene(std::span<const ViewedCloud> clouds, const ViewOptions& options,
                                  StoredArrays& arrays) {
  check_clouds(clouds);
  const Closeness closeness =
      options.exact || numbers_of(clouds) <= kExactNumbers ? Closeness::exact : Closeness::rounded;
  nlohmann::ordered_json scene;
  scene["version"] = 1;
  scene["title"] = options.title.empty() ? title_of(clouds) : options.title;
  scene["generator"] = "kith " KITH_VERSION;
  std::vector<std::string> notes;
  nlohmann::ordered_json written = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < clouds.size(); ++i) {
    written.push_back(CloudWriter(clouds, i, closeness, arrays, notes).write(options.threads));
  }
  scene["notes"] = notes;
  scene["color"] = color_choice(options.color, written);
  arrays.encode(options.threads);
  for (nlohmann::ordered_json& cloud : written) describe_arrays(cloud, arrays);
  scene["clouds"] = std::move(written);
  return scene;
}

}  // namespace kith::apps
