// Labels points by their neighbours: scales the columns, chooses k, classifies, and reports the accuracy.
#include <kith/kith.hpp>

#include <cstdio>
#include <random>
#include <vector>

namespace {

struct Flowers {
  kith::PointSet points;
  std::vector<std::uint32_t> kinds;
};

/// Three kinds that differ in two measures, one of them in metres and one in millimetres.
Flowers pick(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto about = [&](double mean, double width) {
    return mean + width * (static_cast<double>(random() >> 11) * 0x1.0p-53 - 0.5);
  };
  Flowers flowers{kith::PointSet(kith::DType::f64, count, 2), {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<std::uint32_t>(random() % 3);
    flowers.points.values<double>()[2 * i] = about(kind == 0 ? 0.2 : 0.5, 0.2);
    flowers.points.values<double>()[2 * i + 1] = about(kind == 2 ? 60 : 30, 50);
    flowers.kinds.push_back(kind);
  }
  return flowers;
}

}  // namespace

int main() {
  const Flowers known = pick(600, 1), found = pick(200, 2);
  // Fitted on the known ones only: what is to be predicted must not be looked at.
  const kith::apps::Scale scale = kith::apps::fit_scale(known.points.view(), kith::apps::Scaling::standard);
  const kith::PointSet train = scale.apply(known.points.view()), test = scale.apply(found.points.view());
  const kith::apps::LabelView kinds{known.kinds, 3};

  kith::apps::ChooseKOptions range;
  range.most = 30;
  const kith::apps::KChoice choice = kith::apps::choose_k(train.view(), kinds, range);
  std::printf("k = %u is best: %llu of %zu known flowers by all others\n", choice.best,
              static_cast<unsigned long long>(choice.right[choice.best - choice.least]), known.kinds.size());

  kith::apps::ClassifyOptions options;
  options.k = choice.best;
  const kith::apps::Classified labels = kith::apps::classify(train.view(), kinds, test.view(), options);
  const kith::apps::LabelScore score = kith::apps::score_labels({found.kinds, 3}, labels.labels);
  std::printf("%.1f %% of the new ones are right\n", 100 * score.accuracy());
  for (std::size_t kind = 0; kind < score.classes.size(); ++kind) {
    std::printf("kind %zu: precision %.3f, recall %.3f\n", kind, score.classes[kind].precision(),
                score.classes[kind].recall());
  }

  // One after the other: each new flower, once labelled, helps to label those after it.
  const kith::apps::Classified in_turn = kith::apps::classify_sequential(train.view(), kinds, test.view(), options);
  std::printf("one after the other: %.1f %%, along chains of up to %llu flowers\n",
              100 * kith::apps::score_labels({found.kinds, 3}, in_turn.labels).accuracy(),
              static_cast<unsigned long long>(in_turn.depth));
  return score.accuracy() > 0.8 && in_turn.depth > 1 ? 0 : 1;
}
