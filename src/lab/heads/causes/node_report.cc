// Tables of node patching, in both directions. Estimates are compared with the true effects by kind
// of node, because they are good for some kinds and bad for others.
// Read next: node_patching.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

constexpr PatchNode kAllNodes[] = {PatchNode::q,       PatchNode::k,      PatchNode::v,
                                   PatchNode::pattern, PatchNode::output, PatchNode::mlp,
                                   PatchNode::stream};

/// Two points lie on a line whatever the estimates are: such rows are left out.
constexpr std::size_t kFewestCorrelated = 3;

/// Returns the name of a node's place: "blocks.0.mlp", or "stream.1", the stream before block 1.
std::string place_of(const PatchedNode& node) {
  return node.sublayer ? name_of(*node.sublayer) : text("stream.", *node.stream);
}

struct DirectedNode : PatchedNode {
  const PatchDirection& direction;
};

struct DirectedPath : PatchedPath {
  const PatchDirection& direction;
};

/// The correlation of estimates with effects, for one kind of node in one direction.
struct EstimateQuality {
  const PatchDirection& direction;
  PatchNode kind;
  std::size_t count;
  double correlation;
};

template <class Row>
void add_direction(Fields<Row>& fields) {
  fields.add({"direction", "direction",
              "restore: clean activations patched into the corrupted pass; break: the reverse"},
             [](const Row& row) { return row.direction.name; });
}

template <class Row>
void add_pairs(Fields<Row>& fields) {
  fields.add(Column("pairs", "pairs", "number of pairs of sequences").hidden().no_legend(),
             [](const Row& row) { return row.direction.pairs; });
}

template <class Row>
void add_kind(Fields<Row>& fields) {
  fields.add({"node", "node", "kind of the patched activation"},
             [](const Row& row) { return name_of(row.kind); });
}

/// Returns the name of the quantity that the effects are shares of.
std::string quantity_of(const std::vector<PatchDirection>& directions) {
  return directions.empty() ? "logit difference" : directions[0].quantity;
}

Table nodes_table(const std::vector<PatchDirection>& directions) {
  using Row = DirectedNode;
  Fields<Row> fields;
  add_direction(fields);
  add_kind(fields);
  fields.add(Column("of", "head", "LAYER.HEAD").of(CellKind::head).no_legend(), &Row::head);
  fields.add({"place", "place",
              "attention layer, feed-forward network, or residual stream before a block"},
             place_of);
  fields.add(
      Column("position", "position", "position in the sequence, for a residual stream").no_legend(),
      [](const Row& row) { return row.position < 0 ? Json() : Json(row.position); });
  fields.add(interval_column("effect", "effect",
                             text("share of the ", quantity_of(directions),
                                  " that patching this node changes, with its 95% interval"))
                 .fixed(3)
                 .mean_over("pairs"),
             &Row::effect);
  fields.add(Column("estimate", "estimate",
                    "effect estimated by attribution patching: gradient times difference of "
                    "the activations")
                 .fixed(3)
                 .mean_over("pairs"),
             &Row::estimate);
  add_pairs(fields);
  std::vector<Row> rows;
  for (const PatchDirection& direction : directions) {
    for (const PatchedNode& node : direction.nodes) {
      rows.push_back({node, direction});
    }
  }
  return fields.table(
      {.name = "nodes", .title = "nodes with the largest effects", .most = 20, .by = "effect"},
      rows);
}

Table estimates_table(const std::vector<PatchDirection>& directions) {
  using Row = EstimateQuality;
  Fields<Row> fields;
  add_direction(fields);
  add_kind(fields);
  fields.add(Column("count", "nodes", "number of them").no_legend(), &Row::count);
  fields.add(Column("correlation", "correlation",
                    "correlation of these estimates with the effects (Pearson)")
                 .fixed(3),
             &Row::correlation);
  std::vector<Row> rows;
  for (const PatchDirection& direction : directions) {
    for (const PatchNode kind : kAllNodes) {
      std::vector<double> effects;
      std::vector<double> estimates;
      for (const PatchedNode& node : direction.nodes) {
        if (node.kind != kind) continue;
        effects.push_back(node.effect.mean);
        estimates.push_back(node.estimate);
      }
      if (effects.size() < kFewestCorrelated) continue;
      rows.push_back({direction, kind, effects.size(), pearson(effects, estimates)});
    }
  }
  return fields.table({.name = "estimates"}, rows);
}

Table paths_table(const std::vector<PatchDirection>& directions) {
  using Row = DirectedPath;
  Fields<Row> fields;
  add_direction(fields);
  fields.add(Column("from", "from", "the head that writes").of(CellKind::head).no_legend(),
             &Row::from);
  fields.add(Column("to", "to", "the head that reads").of(CellKind::head).no_legend(), &Row::to);
  fields.add({"by", "by", "queries (q), keys (k), values (v), or the logits"}, &Row::by);
  fields.add(interval_column("effect", "effect",
                             text("share of the ", quantity_of(directions),
                                  " that this path alone changes"))
                 .fixed(3)
                 .mean_over("pairs"),
             &Row::effect);
  add_pairs(fields);
  std::vector<Row> rows;
  for (const PatchDirection& direction : directions) {
    for (const PatchedPath& path : direction.paths) {
      rows.push_back({path, direction});
    }
  }
  return fields.table(
      {.name = "paths", .title = "paths with the largest effects", .most = 20, .by = "effect"},
      rows);
}

}  // namespace

std::vector<Table> node_tables(const std::vector<PatchDirection>& directions) {
  return {nodes_table(directions), estimates_table(directions), paths_table(directions)};
}

Result patch_result(const Transformer& model, const Batch& clean, const Batch& corrupted,
                    bool paths) {
  return patch_result(model, PatchPairs{clean, corrupted}, paths);
}

Result patch_result(const Transformer& model, const PatchPairs& pairs, bool paths) {
  Result found = result_of(patch_activations(model, pairs));
  std::vector<PatchDirection> directions;
  for (const bool restores : {true, false}) {
    directions.push_back(patch_nodes(model, pairs, restores, paths));
  }
  for (Table& table : node_tables(directions)) found.tables.push_back(std::move(table));
  return found;
}

}  // namespace headlab
