// `headlab cost`: the cost of attention for given sizes or for a run: parameters, operations,
// memory with the cache of generation, and growth. Sizes come from flags or from a run.
// Read next: lab/bench/cost.h.

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

struct CostFlags {
  CostOptions sizes;
  std::string model;

  Flags settings() {
    Flags s = settings_of(sizes);
    s.naming(ValueKind::run, "model", model, "use the sizes of this run");
    s.excludes({"d_model", "heads", "kv_heads", "d_head", "d_value", "length", "layers", "biases",
                "attention_function"},
               {flag_given("model")});
    return s;
  }
};

/// Merges adjacent entries of one size into one entry with their number.
Json attention_layers_json(const std::vector<AttentionSlotSizes>& attention_layers) {
  Json list = Json::array();
  for (const AttentionSlotSizes& m : attention_layers) {
    Json entry = Json::object({{"name", m.name},
                               {"d_model", m.sizes.d_model},
                               {"heads", m.sizes.heads},
                               {"kv_heads", m.sizes.kv_heads},
                               {"d_head", m.sizes.d_head},
                               {"d_value", m.sizes.d_value},
                               {"queries", m.queries},
                               {"keys", m.keys},
                               {"attention_layers", 1}});
    Json* last = list.items().empty() ? nullptr : &list.items().back();
    Json same = entry;
    for (const char* key : {"name", "attention_layers"}) {
      if (last != nullptr) same[key] = last->at(key);
    }
    if (last != nullptr && same == *last) {
      (*last)["attention_layers"] = last->at("attention_layers").integer() + 1;
    } else {
      list.push_back(std::move(entry));
    }
  }
  return list;
}

}  // namespace

Output cost(Invocation& call) {
  CostFlags flags;
  call.read(flags.settings());
  const std::vector<AttentionSlotSizes> attention_layers =
      flags.model.empty() ? as_usage([&] { return attention_layers_of(flags.sizes); })
                          : attention_layers_of(open_run(flags.model).model);
  Result found = as_usage([&] { return cost_result(attention_layers, flags.sizes.batch); });
  found.about = stamped({{"attention_layers", attention_layers_json(attention_layers)}});
  const bool widths_follow = flags.model.empty() && flags.sizes.d_head == 0;
  const std::string division =
      widths_follow ? division_note(flags.sizes.d_model, flags.sizes.heads) : "";
  found.about["division"] = division;
  Output output = reproducible(call, found);
  if (!division.empty()) output.text = wrapped(division, "", stdout_width()) + "\n" + output.text;
  return output;
}

}  // namespace headlab::cli
