// `headlab cost`: what attention of some size costs, or that of a run: parameters, operations,
// memory, the cache of generation; with --measure by the clock, beside what the machine's limits
// predict. Needs no run. Read next: bench/cost.h.
#include "headlab/bench/cost.h"

#include "cli/commands.h"
#include "headlab/base/threads.h"
#include "headlab/report/bench_text.h"

namespace headlab::cli {
namespace {

struct CostFlags {
  CostOptions sizes;
  std::string model;
  bool measure = false, published = false;
  Index rounds = 7;

  Settings settings() {
    Settings s = settings_of(sizes);
    s.string("model", model, "or: the attention of this run", "RUN");
    s.boolean("measure", measure, "also time one module on this machine");
    s.integer("rounds", rounds, 1, 1000, "of --measure: medians over so many");
    s.boolean("published", published, "show published models instead");
    return s;
  }
};

/// A heading, the table, and what it says in words.
struct Section {
  const char *key, *title;
  BenchTable table;
  std::string words;
};

std::vector<AttentionPlaceSizes> sizes_for(const Invocation& call, const CostFlags& flags) {
  if (flags.model.empty()) return as_usage([&] { return modules_of(flags.sizes); });
  call.refuse({"d_model", "heads", "kv_heads", "d_head", "d_value", "length", "layers"},
              "and --model both say how large attention is", "leave one of them out");
  return modules_of(open_run(flags.model).model);
}

std::vector<Section> counted(const std::vector<AttentionPlaceSizes>& modules,
                             const CostFlags& flags) {
  const Index batch = flags.sizes.batch;
  return {
      {"parameters", "parameters: the number of heads changes none of them while H D = C",
       parameter_cost(modules, flags.sizes.biases), ""},
      {"operations", "operations: what one head as wide as all together takes, and these",
       operation_cost(modules, batch),
       "a multiply-add counts two, a score of the softmax five; products cost the same in one head "
       "and\nin many, the softmax is done once for each score of each head. Backward as fused: "
       "q k^T again.\n"},
      {"memory", "memory of a training step, kept from forward to backward",
       memory_cost(modules, batch),
       "composed, attention keeps every weight (grows with T S); fused, one number for each row\n"},
      {"kv_cache", "what generation keeps of all tokens before: keys and values",
       cache_cost(modules, batch), ""},
      {"complexity", "growth: with T = S tokens and d = C, at this size",
       complexity_cost(modules, batch),
       "products of scores overtake the projections where T is above 2 d\n"}};
}

std::vector<Section> measured(const std::vector<AttentionPlaceSizes>& modules,
                              const CostFlags& flags) {
  require(!modules.empty(), "there is no attention module to measure");
  if (!has_threads()) note("warning: this build has no threads and uses one core");
  const MeasuredCost cost =
      as_usage([&] { return measure_cost(modules[0], flags.sizes.batch, flags.rounds); });
  return {
      {"measured_ops", "measured: one module, predicted from this machine's limits", cost.ops,
       "predicted: the larger of operations / peak and bytes / triad, measured just before;\n"
       "-0.5: it took twice as long; above 0: from a cache, or the machine was busy meanwhile\n"},
      {"measured_heads", "measured: the same width in one head and in many", cost.heads, ""},
      {"measured_versions", "measured: attention alone, fused and composed", cost.versions,
       "kept: from forward to backward, the output included\n"}};
}

/// Neighbours of one size are one entry, with their number.
Json modules_json(const std::vector<AttentionPlaceSizes>& modules) {
  Json list = Json::array();
  for (const AttentionPlaceSizes& m : modules) {
    Json entry = Json::object({{"name", m.name},
                               {"d_model", m.sizes.d_model},
                               {"heads", m.sizes.heads},
                               {"kv_heads", m.sizes.kv_heads},
                               {"d_head", m.sizes.d_head},
                               {"d_value", m.sizes.d_value},
                               {"queries", m.queries},
                               {"keys", m.keys},
                               {"modules", 1}});
    if (!list.items().empty()) {
      Json& last = list.items().back();
      Json same = entry;
      same["name"] = last.at("name");
      same["modules"] = last.at("modules");
      if (same == last) {
        last["modules"] = last.at("modules").integer() + 1;
        continue;
      }
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Result published(const Invocation& call) {
  const BenchTable table = published_cost();
  return reproducible(
      call, stamped({{"published", to_json(table).at("rows")}}),
      table_text(table) +
          "\nK, V: blocks of keys and values; weights: of one attention module, no "
          "biases; cache/token: bytes\nof all layers in fp16. Heads times d_head is "
          "not d_model in T5-11B and PaLM 540B\n");
}

}  // namespace

Result cost(Invocation& call) {
  CostFlags flags;
  call.read(flags.settings());
  if (flags.published) return published(call);
  const std::vector<AttentionPlaceSizes> modules = sizes_for(call, flags);
  std::vector<Section> sections = as_usage([&] { return counted(modules, flags); });
  if (flags.measure)
    for (Section& section : measured(modules, flags)) sections.push_back(std::move(section));
  Json json = stamped({{"modules", modules_json(modules)}});
  std::string shown;
  const bool widths_follow = flags.model.empty() && flags.sizes.d_head == 0;
  const std::string division =
      widths_follow ? division_note(flags.sizes.d_model, flags.sizes.heads) : "";
  if (!division.empty()) shown += division + "\n\n";
  json["division"] = division;
  for (const Section& section : sections) {
    const bool limits = !section.table.about.members().empty();
    shown +=
        text(section.title, "\n\n", limits ? bench_text(section.table) : table_text(section.table),
             section.words.empty() ? "" : "\n", section.words, "\n");
    json[section.key] = limits ? to_json(section.table) : to_json(section.table).at("rows");
  }
  return reproducible(call, std::move(json), shown);
}

}  // namespace headlab::cli
