// `headlab ablate`: what the loss becomes when heads, or exactly the edges that a task knows, are
// silenced. A pattern shows where a head looks; this shows whether it matters. The run's model is
// only read. Read next: heads/ablation.h, heads/gold_edges.h.
#include "headlab/heads/ablation.h"

#include "cli/findings.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/interactions.h"
#include "headlab/report/causes_text.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

struct AblateFlags {
  std::string kind = "zero";
  bool pairs = false, gold_edges = false;
  Index examples = 512;
  std::int64_t seed = 0;
  CommonFlags common;

  Settings settings() {
    std::vector<std::string> kinds;
    for (const AblationEntry& entry : ablation_table()) kinds.emplace_back(entry.name);
    Settings s;
    s.add(named_text("kind", join(kinds, "|"), kind,
                     "what takes the place of a head's output: 0, its mean, or that of another "
                     "example"));
    s.boolean("pairs", pairs, "silence pairs of heads too: which back each other up?");
    s.boolean("gold_edges", gold_edges,
              "hide exactly the edges that the task knows, against random ones");
    s.integer("examples", examples, 30, 1 << 24, "held-out examples");
    s.integer("seed", seed, 0, std::int64_t{1} << 53,
              "of what is drawn: examples by resample, random edges");
    s.add(common.settings());
    return s;
  }

  std::string in_words() const {
    return text(examples, " held-out examples, the same every time; seed ", seed);
  }
};

Finding silence_heads(const Run& run, const AblateFlags& flags) {
  const Example held_out = held_out_examples(*run.task, flags.examples);
  const AblationOptions options{.kind = find_ablation(flags.kind), .seed = flags.seed};
  const AblationReport report = ablate_heads(run.model, held_out.batch, options);
  return {"ablation.json", report, ablation_text(report, {.color = stdout_wants_color()}),
          text(flags.kind, "-ablation, ", flags.in_words(), "; ", fixed(report.sets_per_second, 0),
               " head sets per second")};
}

Finding silence_pairs(const Run& run, const AblateFlags& flags) {
  const Example held_out = held_out_examples(*run.task, flags.examples);
  const AblationOptions options{.kind = find_ablation(flags.kind), .seed = flags.seed};
  const InteractionReport report = ablate_pairs(run.model, held_out.batch, options);
  return {"interactions.json", report, interactions_text(report),
          text(flags.kind, "-ablation, ", flags.in_words())};
}

Finding hide_edges(const Run& run, const AblateFlags& flags) {
  const EdgeReport report =
      test_gold_edges(run.model, *run.task, {.examples = flags.examples, .seed = flags.seed});
  return {"gold_edges.json", report, gold_edges_text(report), flags.in_words()};
}

}  // namespace

int ablate_command(Arguments arguments) {
  AblateFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("ablate", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("ablate", {"RUN"}), settings);
  as_usage([&] { find_ablation(flags.kind); });
  as_usage([&] {
    require(!flags.pairs || !flags.gold_edges,
            "--pairs and --gold-edges are two questions: ask one");
  });
  flags.common.apply();
  const Run run = open_run(paths[0]);
  Finding found = flags.gold_edges ? hide_edges(run, flags)
                  : flags.pairs    ? silence_pairs(run, flags)
                                   : silence_heads(run, flags);
  return keep(run, std::move(found), again("ablate", arguments), flags.common);
}

}  // namespace headlab::cli
