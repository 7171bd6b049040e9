// `headlab ablate`: what the loss becomes when heads, or exactly the edges that a task knows, are
// silenced. A pattern shows where a head looks; this shows whether it matters. The run's model is
// only read. Read next: heads/ablation.h, heads/gold_edges.h.
#include "headlab/heads/ablation.h"

#include "cli/commands.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

struct AblateFlags {
  std::string kind = "zero";
  bool pairs = false, gold_edges = false;
  Index examples = 512;
  std::int64_t seed = 0;

  Settings settings() {
    Settings s;
    s.string("kind", kind,
             "what takes the place of a head's output: 0, its mean, or that of another "
             "example",
             join(texts_of(ablation_table(), &AblationEntry::name), "|"));
    s.boolean("pairs", pairs, "silence pairs of heads too: which back each other up?");
    s.boolean("gold_edges", gold_edges,
              "hide exactly the edges that the task knows, against random ones");
    s.integer("examples", examples, 30, 1 << 24, "held-out examples");
    s.integer("seed", seed, 0, kMostExact, "of what is drawn: examples by resample, random edges");
    return s;
  }
};

}  // namespace

Result ablate(Invocation& call) {
  AblateFlags flags;
  call.read(flags.settings(), call.out_setting());
  const AblationOptions options{.kind = as_usage([&] { return find_ablation(flags.kind); }),
                                .seed = flags.seed};
  if (flags.pairs && flags.gold_edges)
    throw UsageError("--pairs and --gold-edges are two questions: ask one");
  const Run run = open_run(call.positionals()[0]);
  const Batch batch = held_out_examples(*run.task, flags.examples).batch;
  const std::string drawn = text(examples_text(*run.task, batch.size), "; seed ", flags.seed),
                    kind = flags.kind + "-ablation, ";
  if (flags.gold_edges) {
    const EdgeReport report =
        test_gold_edges(run.model, *run.task, {.examples = flags.examples, .seed = flags.seed});
    return finding(call, run, finding_of(report), drawn + "\n", "gold_edges.json");
  }
  if (flags.pairs) {
    const HeadsReport scores =
        score_heads(run.model, *run.task, {.examples = flags.examples, .without_gold = false});
    const InteractionReport report = ablate_pairs(run.model, batch, options, &scores);
    return finding(call, run, finding_of(report), text(kind, drawn, "\n"), "interactions.json");
  }
  const AblationReport report = ablate_heads(run.model, batch, options);
  return finding(call, run, finding_of(report),
                 text(kind, fixed(report.sets_per_second, 0), " head sets per second\n", drawn,
                      "\n"),
                 "ablation.json");
}

}  // namespace headlab::cli
