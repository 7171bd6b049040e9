// `headlab cost`: what attention of some size costs, or that of a run: parameters, operations,
// memory, the cache of generation; with --measure by the clock, beside what the machine's limits
// predict. Needs no run. Read next: bench/cost.h.
#include "headlab/bench/cost.h"

#include "cli/commands.h"
#include "headlab/base/threads.h"

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

std::vector<AttentionPlaceSizes> sizes_for(const Invocation& call, const CostFlags& flags) {
  if (flags.model.empty()) return as_usage([&] { return modules_of(flags.sizes); });
  call.refuse({"d_model", "heads", "kv_heads", "d_head", "d_value", "length", "layers"},
              "and --model both say how large attention is", "leave one of them out");
  return modules_of(open_run(flags.model).model);
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

}  // namespace

Result cost(Invocation& call) {
  CostFlags flags;
  call.read(flags.settings());
  if (flags.published)
    return reproducible(call, Finding{.about = stamped(), .tables = {published_cost()}});
  const std::vector<AttentionPlaceSizes> modules = sizes_for(call, flags);
  Finding found =
      as_usage([&] { return cost_finding(modules, flags.sizes.batch, flags.sizes.biases); });
  found.about = stamped({{"modules", modules_json(modules)}});
  if (flags.measure) {
    require(!modules.empty(), "there is no attention module to measure");
    if (!has_threads()) note("warning: this build has no threads and uses one core");
    const Finding measured =
        as_usage([&] { return measure_cost(modules[0], flags.sizes.batch, flags.rounds); });
    for (const auto& [key, value] : measured.about.members()) found.about[key] = value;
    for (const Table& table : measured.tables) found.tables.push_back(table);
  }
  const bool widths_follow = flags.model.empty() && flags.sizes.d_head == 0;
  const std::string division =
      widths_follow ? division_note(flags.sizes.d_model, flags.sizes.heads) : "";
  found.about["division"] = division;
  Result result = reproducible(call, found);
  if (!division.empty()) result.text.insert(0, division + "\n\n");
  return result;
}

}  // namespace headlab::cli
