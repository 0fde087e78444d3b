// Labels by the votes of neighbours: the library's classify, all queries at once or one after the other.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/classify.hpp>
#include <kith/index.hpp>

#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Classifier = apps::Classified (*)(PointView, apps::LabelView, PointView, const apps::ClassifyOptions&);

nb::object shares_of(std::vector<double> shares, std::size_t queries, std::uint32_t classes) {
  std::vector<double>* kept = nullptr;
  const nb::capsule owner = keep(std::move(shares), &kept);
  return numpy_over(kept->data(), {queries, classes}, owner);
}

template <Classifier kClassify>
nb::dict classify(const nb::object& points, const Values<std::uint32_t>& codes, std::uint32_t classes,
                  const nb::object& queries, std::uint32_t k, const std::string& weights, const std::string& ties,
                  const std::string& metric, const std::string& engine, const std::string& device, bool shares,
                  int threads, nb::object progress) {
  const Rows rows(points, "points");
  const Rows asked(queries, "queries");
  Watch watch(std::move(progress));
  apps::ClassifyOptions options;
  options.k = k;
  options.weights = apps::parse_weights(weights);
  options.ties = apps::parse_ties(ties);
  options.metric = Metric::parse(metric);
  options.engine = parse_engine(engine);
  options.device = Device::parse(device);
  options.threads = threads;
  options.progress = watch.callback();
  options.want_shares = shares;
  apps::Classified found = watch.run([&] {
    return kClassify(rows.view(), {span_of(codes), classes}, asked.view(), options);
  });
  const std::size_t count = found.labels.size();
  nb::dict answer;
  answer["codes"] = numpy_int64(found.labels, {count}, threads);
  answer["shares"] = shares ? shares_of(std::move(found.shares), count, classes) : nb::none();
  answer["depth"] = found.depth;
  answer["rounds"] = found.rounds;
  answer["explanation"] = found.work.explanation;
  return answer;
}

template <Classifier kClassify>
void bind(nb::module_& module, const char* name) {
  module.def(name, &classify<kClassify>, "points"_a, "codes"_a, "classes"_a, "queries"_a, nb::kw_only(), "k"_a = 5,
             "weights"_a = "uniform", "ties"_a = "nearest", "metric"_a = "l2", "engine"_a = "auto", "device"_a = "auto",
             "shares"_a = false, "threads"_a = 0, "progress"_a = nb::none());
}

}  // namespace

void bind_classify(nb::module_& module) {
  bind<&apps::classify>(module, "classify");
  bind<&apps::classify_sequential>(module, "classify_sequential");
}

}  // namespace kith::python
