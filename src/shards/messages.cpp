// All messages of shards to bytes and back.
#include "shards/byte_message.hpp"

#include <kith/shards/cut.hpp>
#include <kith/shards/numbered_points.hpp>
#include <kith/shards/requests.hpp>
#include <kith/shards/shard_map.hpp>

#include <utility>

namespace kith::shards {

void put_rules(ByteWriter& writer, const CutRules& rules) {
  writer.put(rules.shards);
  writer.put(rules.metric.kind());
  writer.put(rules.metric.p());
  writer.put_array(rules.metric_params);
  writer.put_array(rules.period);
  writer.put(rules.split);
  writer.put(static_cast<std::uint8_t>(rules.skip_nonfinite));
}

CutRules get_rules(ByteReader& reader) {
  CutRules rules;
  rules.shards = reader.get<std::uint32_t>();
  const auto kind = reader.get_enum(Metric::Kind::braycurtis);
  const auto p = reader.get<double>();
  try {
    rules.metric = Metric::of(kind, p);
  } catch (const UsageError&) {
    throw CorruptFile("message: there is no such metric");
  }
  rules.metric_params = reader.get_array<double>();
  rules.period = reader.get_array<double>();
  rules.split = reader.get_enum(SplitRule::cycle);
  rules.skip_nonfinite = reader.get_flag();
  return rules;
}

}  // namespace kith::shards

namespace kith::shards::inline v0 {
namespace {

void put_bad_rows(ByteWriter& writer, const PointFacts::BadRows& bad) {
  writer.put(bad.count);
  writer.put(bad.first);
  writer.put(static_cast<std::uint8_t>(bad.column.has_value()));
  writer.put(bad.column.value_or(0));
  writer.put_text(bad.problem);
}

PointFacts::BadRows get_bad_rows(ByteReader& reader) {
  PointFacts::BadRows bad;
  bad.count = reader.get<std::uint64_t>();
  bad.first = reader.get<std::uint64_t>();
  const bool has_column = reader.get_flag();
  const auto column = reader.get<std::uint32_t>();
  if (has_column) bad.column = column;
  bad.problem = reader.get_text();
  return bad;
}

void put_shard(ByteWriter& writer, const ShardFacts& shard) {
  writer.put(shard.points);
  writer.put(shard.smallest);
  writer.put_array(shard.lower);
  writer.put_array(shard.upper);
}

ShardFacts get_shard(ByteReader& reader) {
  ShardFacts shard;
  shard.points = reader.get<std::uint64_t>();
  shard.smallest = reader.get<std::uint64_t>();
  shard.lower = reader.get_array<double>();
  shard.upper = reader.get_array<double>();
  return shard;
}

}  // namespace

Bytes PointFacts::to_bytes() const {
  ByteWriter writer(MessageId::facts);
  writer.put(dtype);
  writer.put(dims);
  writer.put(rows);
  writer.put(searched);
  writer.put_array(lower);
  writer.put_array(upper);
  put_bad_rows(writer, non_finite);
  put_bad_rows(writer, outside);
  writer.put_text(misuse);
  return std::move(writer).take();
}

PointFacts PointFacts::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::facts);
  PointFacts facts;
  facts.dtype = reader.get_enum(DType::f64);
  facts.dims = reader.get<std::uint32_t>();
  facts.rows = reader.get<std::uint64_t>();
  facts.searched = reader.get<std::uint64_t>();
  facts.lower = reader.get_array<double>();
  facts.upper = reader.get_array<double>();
  facts.non_finite = get_bad_rows(reader);
  facts.outside = get_bad_rows(reader);
  facts.misuse = reader.get_text();
  reader.finish();
  return facts;
}

Bytes ShardPoints::to_bytes() const {
  ByteWriter writer(MessageId::points, points.bytes() + numbers.size() * sizeof(numbers[0]));
  writer.put_points(points);
  writer.put_array(numbers);
  return std::move(writer).take();
}

ShardPoints ShardPoints::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::points);
  ShardPoints some{reader.get_points(), reader.get_array<std::uint64_t>()};
  reader.finish();
  if (some.numbers.size() != some.points.rows()) throw CorruptFile("message: points and numbers do not match");
  return some;
}

Bytes CutPlan::to_bytes() const {
  ByteWriter writer(MessageId::plan);
  writer.put(shards_);
  writer.put(dims_);
  writer.put(level_);
  writer.put(rounds_);
  writer.put(dtype_);
  writer.put(split_);
  writer.put(static_cast<std::uint8_t>(is_first_of_level_));
  writer.put(points_);
  writer.put(rows_);
  writer.put_array(open_);
  writer.put_array(unknown_);
  writer.put(static_cast<std::uint64_t>(nodes_.size()));
  for (const Node& node : nodes_) {
    writer.put(node.first_shard);
    writer.put(node.end_shard);
    writer.put(node.left);
    writer.put(node.right);
    writer.put_array(node.lower);
    writer.put_array(node.upper);
    writer.put(node.cut.dim);
    writer.put(static_cast<std::uint8_t>(node.cut.is_known));
    writer.put(node.cut.rank);
    writer.put(node.cut.low);
    writer.put(node.cut.high);
    writer.put_array(node.cut.components);
  }
  return std::move(writer).take();
}

CutPlan CutPlan::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::plan);
  CutPlan plan;
  plan.shards_ = reader.get<std::uint32_t>();
  plan.dims_ = reader.get<std::uint32_t>();
  plan.level_ = reader.get<std::uint32_t>();
  plan.rounds_ = reader.get<std::uint32_t>();
  plan.dtype_ = reader.get_enum(DType::f64);
  plan.split_ = reader.get_enum(SplitRule::cycle);
  plan.is_first_of_level_ = reader.get_flag();
  plan.points_ = reader.get<std::uint64_t>();
  plan.rows_ = reader.get<std::uint64_t>();
  plan.open_ = reader.get_array<std::uint32_t>();
  plan.unknown_ = reader.get_array<std::uint32_t>();
  const auto nodes = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < nodes; ++i) {  // ends at the latest with the bytes
    Node node;
    node.first_shard = reader.get<std::uint32_t>();
    node.end_shard = reader.get<std::uint32_t>();
    node.left = reader.get<std::uint32_t>();
    node.right = reader.get<std::uint32_t>();
    node.lower = reader.get_array<std::uint64_t>();
    node.upper = reader.get_array<std::uint64_t>();
    node.cut.dim = reader.get<std::uint32_t>();
    node.cut.is_known = reader.get_flag();
    node.cut.rank = reader.get<std::uint64_t>();
    node.cut.low = reader.get<std::uint64_t>();
    node.cut.high = reader.get<std::uint64_t>();
    node.cut.components = reader.get_array<std::uint64_t>();
    plan.nodes_.push_back(std::move(node));
  }
  reader.finish();
  plan.require_sound();
  return plan;
}

/// What the code relies on.
void CutPlan::require_sound() const {
  const auto is_node = [&](std::uint32_t node) { return node < nodes_.size(); };
  bool is_sound = shards_ >= 1 && !nodes_.empty();
  for (const Node& node : nodes_) {
    is_sound = is_sound && is_node(node.left) && is_node(node.right) && node.first_shard < node.end_shard &&
               node.end_shard <= shards_ && node.lower.size() == node.upper.size() &&
               (node.lower.empty() || node.lower.size() == dims_) && (dims_ == 0 || node.cut.dim < dims_) &&
               node.cut.components.size() <= std::size_t{dims_} + 1 && node.cut.low <= node.cut.high;
  }
  for (const std::uint32_t node : open_) is_sound = is_sound && is_node(node);
  for (const std::uint32_t node : unknown_) is_sound = is_sound && is_node(node) && !nodes_[node].lower.empty();
  if (!is_sound) throw CorruptFile("message: it is no plan of cuts");
}

Bytes ShardFacts::to_bytes() const {
  ByteWriter writer(MessageId::shard);
  put_shard(writer, *this);
  return std::move(writer).take();
}

ShardFacts ShardFacts::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::shard);
  ShardFacts shard = get_shard(reader);
  reader.finish();
  return shard;
}

Bytes ShardMap::to_bytes() const {
  ByteWriter writer(MessageId::map);
  writer.put(dtype);
  writer.put(dims);
  writer.put(rows);
  put_rules(writer, rules);
  writer.put(static_cast<std::uint64_t>(shards.size()));
  for (const ShardFacts& shard : shards) put_shard(writer, shard);
  return std::move(writer).take();
}

ShardMap ShardMap::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::map);
  ShardMap map;
  map.dtype = reader.get_enum(DType::f64);
  map.dims = reader.get<std::uint32_t>();
  map.rows = reader.get<std::uint64_t>();
  map.rules = get_rules(reader);
  const auto shards = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < shards; ++i) map.shards.push_back(get_shard(reader));
  reader.finish();
  try {
    map.require_sound();
  } catch (const UsageError& error) {
    throw CorruptFile(std::string("message: ") + error.what());
  }
  return map;
}

Bytes SearchRequest::to_bytes() const {
  ByteWriter writer(MessageId::request, queries.bytes() + upper.bytes() + 8 * radii.size() +
                                            sizeof(Limit) * limits.size() + 8 * below.size());
  writer.put(kind);
  writer.put(shard);
  writer.put(most);
  writer.put(static_cast<std::uint8_t>(is_self));
  writer.put(static_cast<std::uint8_t>(exclude_self));
  writer.put(static_cast<std::uint8_t>(earlier_only));
  writer.put(max_distance);
  writer.put_points(queries);
  writer.put_points(upper);
  writer.put_array(radii);
  writer.put_array(limits);
  writer.put_array(below);
  return std::move(writer).take();
}

SearchRequest SearchRequest::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::request);
  SearchRequest request;
  request.kind = reader.get_enum(RequestKind::box_count);
  request.shard = reader.get<std::uint32_t>();
  request.most = reader.get<std::uint32_t>();
  request.is_self = reader.get_flag();
  request.exclude_self = reader.get_flag();
  request.earlier_only = reader.get_flag();
  request.max_distance = reader.get<double>();
  request.queries = reader.get_points();
  request.upper = reader.get_points();
  request.radii = reader.get_array<double>();
  request.limits = reader.get_array<Limit>();
  request.below = reader.get_array<std::uint64_t>();
  reader.finish();
  return request;
}

Bytes SearchReply::to_bytes() const {
  ByteWriter writer(MessageId::reply, 4 * counts.size() + 16 * numbers.size());
  writer.put(shard);
  writer.put_array(counts);
  writer.put_array(std::span<const std::uint64_t>(numbers));
  writer.put_distances(reduced);
  return std::move(writer).take();
}

SearchReply SearchReply::from_bytes(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, MessageId::reply);
  SearchReply reply;
  reply.shard = reader.get<std::uint32_t>();
  reply.counts = reader.get_array<std::uint32_t>();
  reply.numbers = reader.get_numbers();
  reply.reduced = reader.get_distances();
  reader.finish();
  return reply;
}

}  // namespace kith::shards::inline v0
