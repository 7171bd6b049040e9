// A run as JSON: its attention layers with the original indices of their heads, its weights under
// the names of its checkpoint, and the results of a study of it. Without weights, patterns are
// stored.
// Read next: page_history.cc.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "app/report/page_parts.h"

namespace headlab {
namespace {

constexpr Index kLargestStoredPattern =
    128;                            // of longer patterns only the largest weights are kept
constexpr Index kKeptWeights = 16;  // for each query

/// Returns all settings of a run. Widths of 0 are those that took effect, of the first layer.
Json config_facts(const Run& run) {
  RunConfig config = run.config;
  Json settings = settings_of(config).to_json();
  const std::vector<AttentionLayer> layers = run.model.attention_layers();
  if (layers.empty()) return settings;
  const MultiHeadAttention& first = *layers[0].attention;
  const auto set = [&](const char* key, Index used) {
    const Json* chosen = settings.find(key);
    if (chosen != nullptr && *chosen == Json(0)) settings[key] = used;
  };
  set("d_head", first.d_head);
  set("d_value", first.d_value);
  set("kv_heads", std::ssize(first.kv_blocks));
  return settings;
}

Json attention_layers_facts(const Run& run) {
  const std::vector<AttentionSlot> slots = run.model.config().attention_slots();
  const std::vector<AttentionLayer> attention_layers = run.model.attention_layers();
  Json json = Json::array();
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    const MultiHeadAttention& attention = *attention_layers[m].attention;
    json.push_back(Json::object(
        {{"name", attention_layers[m].name},
         {"title", title_of(attention_layers[m])},
         {"kind", kind_name(attention_layers[m].kind)},
         {"layer", slots[m].layer},
         {"stream", attention_layers[m].stream},
         {"heads", attention.heads},
         {"original_heads", run.model.config().heads_of(slots[m].layer)},
         {"d_head", attention.d_head},
         {"d_value", attention.d_value},
         {"window", slots[m].window},
         {"kv_blocks", attention.kv_blocks},
         {"kv_head", std::vector<Index>(attention.kv_head.begin(), attention.kv_head.end())}}));
  }
  return json;
}

Json weights_facts(const Transformer& model, PageBlocks& blocks) {
  std::vector<float> all;
  Json tensors = Json::array();
  model.visit([&](const std::string& name, const Tensor& parameter) {
    const std::vector<Index> shape(parameter.shape().begin(), parameter.shape().end());
    tensors.push_back(Json::object({{"name", name}, {"shape", shape}, {"offset", all.size()}}));
    all.insert(all.end(), parameter.values().begin(), parameter.values().end());
  });
  Json json = Json::object({{"tensors", tensors}});
  json["block"] = blocks.floats("weights", {std::ssize(all)}, all);
  return json;
}

Json evaluation_facts(const Evaluation& evaluation, Index examples) {
  return Json::object({{"loss", evaluation.loss},
                       {"accuracy", evaluation.accuracy},
                       {"targets", evaluation.targets},
                       {"examples", examples}});
}

Json check_facts(const RunStudy& study, PageBlocks& blocks) {
  const Index n = study.checked;
  const Index every = study.check_every;
  const auto counted = static_cast<Index>(study.logits.size());
  Json json = Json::object({{"examples", n}, {"every", every}});
  json["logits"] = blocks.floats("self-check", {n, counted / std::max<Index>(1, n)}, study.logits);
  Json& patterns = json["patterns"] = Json::array();
  for (const AttentionMaps& attention_layer : study.attention_layers) {
    patterns.push_back(blocks.floats("self-check",
                                     {n, attention_layer.heads, attention_layer.queries / every,
                                      attention_layer.keys},
                                     attention_layer.check));
  }
  return json;
}

/// Largest weights of each row, their keys, and the sum of all others.
struct LargestWeights {
  std::vector<std::int32_t> keys{};
  std::vector<float> weights{}, left{};

  void add(std::span<const Scalar> row) {
    std::vector<std::int32_t> order(row.size());
    for (std::size_t s = 0; s < row.size(); ++s) order[s] = static_cast<std::int32_t>(s);
    const auto larger = [&](std::int32_t a, std::int32_t b) {
      return row[a] != row[b] ? row[a] > row[b] : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + kKeptWeights, order.end(), larger);
    double rest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const float weight = row[order[i]];
      if (std::cmp_less(i, kKeptWeights)) {
        keys.push_back(order[i]);
        weights.push_back(weight);
      } else {
        rest += static_cast<double>(weight);
      }
    }
    left.push_back(static_cast<float>(rest));
  }
};

/// Returns the patterns of the displayed examples of one attention layer: all weights, or of long
/// rows the largest.
Json stored_facts(const AttentionMaps& attention_layer, std::span<const Scalar> all, Index examples,
                  PageBlocks& blocks) {
  const Index H = attention_layer.heads;
  const Index Q = attention_layer.queries;
  const Index S = attention_layer.keys;
  if (S <= kLargestStoredPattern) {
    const std::vector<float> values(all.begin(), all.end());
    return Json::object(
        {{"kind", "full"}, {"block", blocks.shares("patterns", {examples, H, Q, S}, values)}});
  }
  LargestWeights kept;
  for (std::size_t at = 0; at < all.size(); at += S) kept.add(all.subspan(at, S));
  Json json = Json::object({{"kind", "top"}});
  json["keys"] = blocks.counts("patterns", {examples, H, Q, kKeptWeights}, kept.keys);
  json["weights"] = blocks.shares("patterns", {examples, H, Q, kKeptWeights}, kept.weights);
  json["left"] = blocks.shares("patterns", {examples, H, Q}, kept.left);
  return json;
}

/// Adds the replacements of ablated heads, by attention layer.
void add_replacements(const RunStudy& study, const PagePlan& plan, PageBlocks& blocks,
                      Json& facts) {
  Json means = Json::array();
  Json donors = Json::array();
  for (const AttentionMaps& attention_layer : study.attention_layers) {
    means.push_back(blocks.floats("replacements", {attention_layer.heads, attention_layer.d_value},
                                  attention_layer.mean_output));
    // Donors are drawn from all examples: with fewer examples some would be missing.
    const bool whole = plan.examples >= study.examples && !attention_layer.donors.empty();
    donors.push_back(whole ? blocks.counts("replacements", {study.examples}, attention_layer.donors)
                           : Json());
  }
  facts["means"] = std::move(means);
  facts["donors"] = std::move(donors);
}

/// Attention functions that the page computes: the table `attentionFunctions` of
/// page/engine/kinds.js.
constexpr std::string_view kLiveFunctions[] = {"softmax", "softmax_composed", "sigmoid",
                                               "softmax_one"};
/// Block wirings that the page computes: the table `blockWirings` of page/engine/wirings.js.
constexpr std::string_view kLiveWirings[] = {"pre", "post", "parallel"};

/// Returns the plan for one run: patterns are stored if the page cannot compute its attention or
/// blocks.
PagePlan plan_for(const Run& run, PagePlan plan) {
  const std::string_view function = kind_of(run.config.model.attention_function).name;
  const std::string_view wiring = kind_of(run.config.model.norm_place).name;
  const bool is_live = std::ranges::count(kLiveFunctions, function) > 0 &&
                       std::ranges::count(kLiveWirings, wiring) > 0;
  plan.weights = plan.weights && is_live;
  return plan;
}

void add_model(const Run& run, const RunStudy& study, const PagePlan& plan, PageBlocks& blocks,
               Json& facts) {
  if (!plan.weights) {
    const Index shown = std::min(plan.shown, plan.examples);
    facts["patterns"] = patterns_facts(study, scored_patterns(run, shown), shown, blocks);
    return;
  }
  facts["weights"] = weights_facts(run.model, blocks);
  facts["check"] = check_facts(study, blocks);
  add_replacements(study, plan, blocks, facts);
}

/// Returns the index of the snapshot whose step is nearest to `step`; the later one of equals.
std::size_t nearest_snapshot(const std::vector<RunStudy::Snapshot>& snapshots, Index step) {
  const auto distance = [&](const RunStudy::Snapshot& one) { return std::abs(one.step - step); };
  const auto nearest = std::ranges::min_element(snapshots, [&](const auto& a, const auto& b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : a.step > b.step;
  });
  return static_cast<std::size_t>(nearest - snapshots.begin());
}

/// Returns the steps at which relations emerged, by the history of a run; empty without one.
std::vector<Index> emergence_steps(const Json& history) {
  std::vector<Index> steps;
  if (history.is_null()) return steps;
  for (const auto& [name, relation] : history.at("relations").members()) {
    if (relation.at("emergence_step").is_number())
      steps.push_back(relation.at("emergence_step").integer());
  }
  return steps;
}

/// Returns the indices of at most `most` snapshots, in order: the first, the last, those nearest to
/// emergence steps, and then others at equal distances.
std::vector<std::size_t> chosen_snapshots(const std::vector<RunStudy::Snapshot>& snapshots,
                                          Index most, const std::vector<Index>& emergence) {
  std::set<std::size_t> slots;
  if (most < 2 || snapshots.empty()) return {};
  const std::size_t kept = std::min(snapshots.size(), static_cast<std::size_t>(most));
  const auto add = [&](std::size_t slot) {
    if (slots.size() < kept) slots.insert(slot);
  };
  add(0);
  add(snapshots.size() - 1);
  for (const Index step : emergence) add(nearest_snapshot(snapshots, step));
  for (std::size_t i = 0; i < kept; ++i) {
    add(kept == 1 ? 0 : i * (snapshots.size() - 1) / (kept - 1));
  }
  for (std::size_t i = 0; i < snapshots.size(); ++i) add(i);
  return {slots.begin(), slots.end()};
}

/// Returns weights over training in 16 bits, half the bytes, and the resulting errors. Null if
/// nothing was kept, or if it does not fit.
Json snapshots_facts(const RunStudy& study, const PagePlan& plan, const Json& history,
                     PageBlocks& blocks) {
  const std::vector<std::size_t> slots =
      chosen_snapshots(study.snapshots, plan.weights ? plan.snapshots : 0,
                       emergence_steps(history));
  if (slots.empty()) return {};
  Json steps = Json::array();
  Json losses = Json::array();
  std::vector<float> weights;
  double error = 0;
  for (const std::size_t slot : slots) {
    const RunStudy::Snapshot& snapshot = study.snapshots[slot];
    steps.push_back(snapshot.step);
    losses.push_back(snapshot.loss);
    weights.insert(weights.end(), snapshot.weights.begin(), snapshot.weights.end());
    error = std::max(error, std::abs(snapshot.half_loss - snapshot.loss));
  }
  const auto each = static_cast<Index>(study.snapshots[0].weights.size());
  Json json = Json::object({{"steps", steps},
                            {"held_out", losses},
                            {"examples", study.snapshot_examples},
                            {"error", error}});
  json["block"] = blocks.halves("snapshots", {std::ssize(slots), each}, weights);
  return json;
}

/// Returns the mean patterns after each kept step, by attention layer.
Json maps_facts(const RunStudy& study, PageBlocks& blocks) {
  Json attention_layers = Json::array();
  for (std::size_t m = 0; m < study.attention_layers.size(); ++m) {
    std::vector<float> all;
    for (const RunStudy::Snapshot& snapshot : study.snapshots) {
      std::ranges::copy(snapshot.attention_layers[m].mean_pattern, std::back_inserter(all));
    }
    const AttentionMaps& attention_layer = study.attention_layers[m];
    attention_layers.push_back(blocks.shares("maps",
                                             {std::ssize(study.snapshots), attention_layer.heads,
                                              attention_layer.rows, attention_layer.columns},
                                             all));
  }
  return Json::object({{"steps", mapped(study.snapshots, &RunStudy::Snapshot::step)},
                       {"attention_layers", attention_layers}});
}

}  // namespace

std::string title_of(const AttentionLayer& layer) {
  const std::string& stack = layer.sublayer.stack;
  std::string side = stack == "decoder." ? "Decoder layer" : "Layer";
  if (layer.kind == AttentionKind::encoder) side = "Encoder layer";
  if (layer.kind == AttentionKind::cross) side = "Cross-attention of decoder layer";
  std::string title = text(side, " ", layer.sublayer.block);
  const MultiHeadAttention& attention = *layer.attention;
  if (attention.heads.empty()) title += ", all heads removed: only its bias is left";
  if (attention.kv_blocks.size() < attention.heads.size()) {
    title += text(", which share ", attention.kv_blocks.size(), " blocks of keys and values");
  }
  return title;
}

Json patterns_facts(const RunStudy& study, const std::vector<std::vector<Scalar>>& patterns,
                    Index examples, PageBlocks& blocks) {
  Json json = Json::array();
  for (std::size_t m = 0; m < patterns.size(); ++m) {
    json.push_back(stored_facts(study.attention_layers[m], patterns[m], examples, blocks));
  }
  return json;
}

Json thumbnails_facts(const RunStudy& study, PageBlocks& blocks) {
  Json thumbnails = Json::array();
  for (const AttentionMaps& attention_layer : study.attention_layers) {
    thumbnails.push_back(
        blocks.shares("thumbnails",
                      {attention_layer.heads, attention_layer.rows, attention_layer.columns},
                      attention_layer.mean_pattern));
  }
  return thumbnails;
}

Json run_facts(const Run& run, const RunStudy& study, const PagePlan& for_all, PageBlocks& blocks,
               const PageOptions& options) {
  const PagePlan plan = plan_for(run, for_all);
  const AttentionFunction function = run.config.model.attention_function;
  Json facts = Json::object({{"name", name_of(run)},
                             {"config", config_facts(run)},
                             {"normalises", kind_of(function).normalises},
                             {"parameters", run.model.parameter_count()},
                             {"attention_layers", attention_layers_facts(run)},
                             {"evaluation", evaluation_facts(study.evaluation, study.examples)},
                             {"overfitting", overfitting_text(run)},
                             {"shown", std::min(plan.shown, plan.examples)}});
  add_model(run, study, plan, blocks, facts);
  facts["thumbnails"] = thumbnails_facts(study, blocks);
  Json& losses = facts["losses"] = Json::object();
  const auto first = [&](const std::vector<float>& all) {
    return std::span(all).first(std::min<std::size_t>(all.size(), plan.examples));
  };
  losses["held_out"] = blocks.floats("losses", {plan.examples}, first(study.held_out_losses));
  losses["scored"] = blocks.floats("losses", {plan.examples}, first(study.scored_losses));
  facts["history"] = run_history(run);
  facts["snapshots"] = snapshots_facts(study, plan, facts.at("history"), blocks);
  if (facts["snapshots"].is_null() && plan.maps && study.snapshots.size() > 1) {
    facts["maps"] = maps_facts(study, blocks);
  }
  facts["reports"] = run_reports(run, options.unkept);
  facts["tables"] = shown_tables(facts.at("reports"), *run.task);
  facts["figures"] = run_figures(run, facts);
  return facts;
}

}  // namespace headlab
