// `headlab ablate`: the loss after ablating heads, or after masking exactly the ground-truth edges
// of attention. A pattern shows where a head looks; this shows whether it matters. The run's model
// is only read. Read next: lab/heads/causes/pairs.h, lab/heads/causes/truth_edges.h.

#include <algorithm>
#include <iterator>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli {
namespace {

struct AblateFlags {
  std::string kind = "zero", heads;
  bool pairs = false, truth_edges = false;
  Index examples = kPairedExamples;
  std::int64_t seed = 0;

  Flags settings() {
    Flags s;
    s.string("kind", kind, "replacement of the head output",
             join(texts_of(ablation_table(), &AblationEntry::name), "|"));
    s.string("head", heads, "ablate only these, together", "LAYER.HEAD[,...]");
    s.boolean("pairs", pairs, "ablate pairs of heads too");
    s.boolean("truth_edges", truth_edges, "mask the ground-truth edges, and random ones");
    s.group("how");
    s.integer("examples", examples, 30, 1 << 24, "held-out examples; 2048 may grow to 8192");
    s.integer("seed", seed, 0, kMostExact, "random seed for examples and edges");
    s.excludes({"kind", "pairs", "head"}, {flag_given("truth_edges")});
    s.excludes({"head"}, {flag_given("pairs")});
    s.needs({"seed"}, {flag_given("truth_edges"), has_value("kind", {"resample"})});
    return s;
  }
};

/// Computes the cost of ablating a set of heads.
Result ablate_set(const Run& run, const Batch& batch, const HeadSet& set,
                  const AblationOptions& options) {
  const Ablation ablation(run.model, batch, options);
  const std::vector<HeadSet> sets = {{}, set};
  const auto losses = ablation.losses(sets);
  Table table{"set",
              {Column("heads", "heads", "to ablate together").no_legend(),
               Column("loss", "loss", "nats per target").no_legend()}};
  table.append(change_columns("", "change", "rise of the loss in nats per target"));
  table.rows = {row_with({join(texts_of(set, head_text), " "), ablation.mean(losses[1])},
                         cells_of(ablation.change(losses[1], losses[0])))};
  const double whole = ablation.mean(losses[0]);
  table.note = text("loss of the whole model: ", significant(whole));
  return {.about = stamped({{"attention", attention_layer_names(run.model)},
                            {"kind", name_of(options.kind)},
                            {"examples", batch.size},
                            {"loss", whole}}),
          .tables = {table}};
}

/// Returns the file in the run's folder that stores the result; "" if there is none.
std::string file_of(const AblateFlags& flags) {
  if (flags.truth_edges) return "truth_edges.json";
  if (!flags.heads.empty()) return "";
  return flags.pairs ? "interactions.json" : "ablation.json";
}

}  // namespace

Output ablate(Invocation& call) {
  AblateFlags flags;
  call.read(flags.settings(), call.out_setting());
  const AblationOptions options{.kind = as_usage([&] { return find_ablation(flags.kind); }),
                                .seed = flags.seed};
  const Run run = open_run(call.positionals()[0]);
  const HeadSet set = parse_heads("--head", flags.heads, run.model);
  const Result found = judge_until_carried(*run.task, flags.examples, [&](Index examples) {
    if (flags.truth_edges) {
      return result_of(
          test_truth_edges(run.model, *run.task, {.examples = examples, .seed = flags.seed}));
    }
    if (flags.pairs) return result_of(ablate_pairs(run.model, *run.task, options, examples));
    const Batch batch = held_out_examples(*run.task, examples).batch;
    return set.empty() ? result_of(ablate_heads(run.model, batch, options))
                       : ablate_set(run, batch, set, options);
  });
  std::string words = flags.truth_edges ? "" : flags.kind + "-ablation, ";
  if (const Json* rate = found.about.find("sets_per_s")) {
    words += fixed(rate->number(), 0) + " head sets per second\n";
  }
  words += text(examples_text(*run.task, found.about.at("examples").integer()), "; seed ",
                flags.seed, "\n");
  return store_result(call, run, found, words, file_of(flags));
}

}  // namespace headlab::cli
