// `headlab ablate`: the loss after ablating heads, or after masking exactly the ground-truth edges
// of attention. A pattern shows where a head looks; this shows whether it matters. The run's model
// is only read. Read next: lab/heads/causes/pairs.h, lab/heads/causes/truth_edges.h.

#include "app/cli/commands.h"

namespace headlab::cli {
namespace {

struct AblateFlags {
  std::string kind = "zero", heads;
  bool pairs = false, truth_edges = false;
  Index examples = kPairedExamples;
  std::int64_t seed = 0;
  TaskFlag task;
  PictureFlags picture;

  Flags settings() {
    Flags s;
    s.naming(ValueKind::other, "kind", kind, "replacement of the head output",
             {.choices = texts_of(ablation_table(), &AblationEntry::name)});
    s.naming(ValueKind::heads, "head", heads, "ablate only these, together", {.several = true});
    s.boolean("pairs", pairs, "ablate pairs of heads too");
    s.boolean("truth_edges", truth_edges, "mask the ground-truth edges, and random ones");
    task.add_to(s);
    s.group("how");
    s.integer("examples", examples, 30, 1 << 24,
              "held-out examples; up to 8192 if the default is too few");
    s.integer("seed", seed, 0, kMostExact, "random seed for examples and edges");
    picture.add_to(s);
    s.excludes({"kind", "pairs", "head", "svg"}, {flag_given("truth_edges")});
    s.excludes({"head", "svg"}, {flag_given("pairs")});
    s.excludes({"svg"}, {flag_given("head")});
    s.needs({"seed"}, {flag_given("truth_edges"), has_value("kind", {"resample"})});
    return s;
  }
};

/// Reports of which the result does not show everything.
struct AblateReports {
  AblationReport single{};  // of single heads
  EdgeReport edges{};
};

/// Returns the result of the experiment that the flags choose, and fills its report.
Result judged(const Run& run, const AblateFlags& flags, const AblationOptions& options,
              AblateReports& reports) {
  const HeadSet set = parse_heads("--head", flags.heads, run.model);
  const auto until_carried = [&](const auto& judge) {
    return result_of(judge_until_carried(*run.task, flags.examples, judge));
  };
  if (flags.truth_edges) {
    reports.edges = judge_until_carried(*run.task, flags.examples, [&](Index examples) {
      return test_truth_edges(run.model, *run.task, {.examples = examples, .seed = flags.seed});
    });
    return result_of(reports.edges);
  }
  if (flags.pairs) {
    return until_carried(
        [&](Index examples) { return ablate_pairs(run.model, *run.task, options, examples); });
  }
  const auto batch_of = [&](Index examples) {
    return held_out_examples(*run.task, examples).batch;
  };
  if (set.empty()) {
    reports.single = judge_until_carried(*run.task, flags.examples, [&](Index examples) {
      return ablate_heads(run.model, batch_of(examples), options);
    });
    return result_of(reports.single);
  }
  return until_carried(
      [&](Index examples) { return ablate_set(run.model, batch_of(examples), set, options); });
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
  call.read(flags.settings(), call.out_setting(), kPromptLines);
  const AblationOptions options{.kind = as_usage([&] { return find_ablation(flags.kind); }),
                                .seed = flags.seed};
  flags.picture.units();
  const Run run = flags.task.open(call.positionals()[0]);
  AblateReports reports;
  const Result found = judged(run, flags, options, reports);
  std::string words = flags.truth_edges ? "" : flags.kind + "-ablation, ";
  if (const Json* rate = found.about.find("sets_per_s")) {
    words += fixed(rate->number(), 0) + " head sets per second\n";
  }
  words +=
      text(examples_text(run, found.about.at("examples").integer()), "; seed ", flags.seed, "\n");
  const bool wants_single = flags.truth_edges && call.value("table") == kSingleAgainst;
  if (!wants_single) call.check_table(found.tables);
  Output output = store_result(call, run, output_of(found, "\n" + words), file_of(flags));
  if (wants_single) output.tables.push_back(with_rows(single_edges_against(reports.edges)));
  return with_picture(call, flags.picture, std::move(output),
                      [&](double units) { return ablation_figure(reports.single, units); });
}

}  // namespace headlab::cli
