// Texts of commands that need no run, compared with golden files: help, lists, explanations, shell
// completions. A row of kCommands is a golden file and the command that prints it. Read next:
// support/golden_text.h.
#include "cli/program.h"
#include "headlab/app/cli/command.h"
#include "headlab/lab/results/words.h"
#include "support/golden_text.h"

namespace headlab::cli { namespace {

struct GoldenCommand {
  const char* file;
  const char* words;
};

constexpr GoldenCommand kCommands[] = {
    {"cli/help_start.txt", "start --help"},
    {"cli/help_train.txt", "train --help all"},
    {"cli/help_train_short.txt", "train --help"},
    {"cli/help_eval.txt", "eval --help"},
    {"cli/help_sample.txt", "sample --help"},
    {"cli/help_sweep.txt", "sweep --help"},
    {"cli/help_compare.txt", "compare --help"},
    {"cli/help_runs.txt", "runs --help"},
    {"cli/help_import.txt", "import --help"},
    {"cli/help_export.txt", "export --help"},
    {"cli/help_bench.txt", "bench --help"},
    {"cli/help_show.txt", "show --help"},
    {"cli/help_heads.txt", "heads --help"},
    {"cli/help_pattern.txt", "pattern --help"},
    {"cli/help_history.txt", "history --help"},
    {"cli/help_page.txt", "page --help"},
    {"cli/help_explain.txt", "explain --help"},
    {"cli/help_list.txt", "list --help"},
    {"cli/help_completion.txt", "completion --help"},
    {"cli/help_cost.txt", "cost --help"},
    {"cli/help_ablate.txt", "ablate --help"},
    {"cli/help_circuits.txt", "circuits --help"},
    {"cli/help_patch.txt", "patch --help"},
    {"cli/help_attribute.txt", "attribute --help"},
    {"cli/help_lens.txt", "lens --help"},
    {"cli/help_rollout.txt", "rollout --help"},
    {"cli/help_edges.txt", "edges --help"},
    {"cli/help_transfer.txt", "transfer --help"},
    {"cli/help_prune.txt", "prune --help"},
    {"cli/help_curve.txt", "curve --help"},
    {"cli/help.txt", "--help all"},
    {"cli/help_short.txt", "--help"},
    {"cli/list_tasks.txt", "list tasks"},
    {"cli/list_kinds.txt", "list kinds"},
    {"cli/list_scores.txt", "list scores"},
    {"cli/list_verdicts.txt", "list verdicts"},
    {"cli/list_methods.txt", "list methods"},
    {"cli/list_files.txt", "list files"},
    {"cli/show_relations.txt", "show relations"},
    {"cli/show_induction.txt", "show induction"},
    {"cli/show_copy.txt", "show copy"},
    {"cli/show_sort.txt", "show sort"},
    {"cli/show_reverse.txt", "show reverse"},
    {"cli/show_reverse_cross.txt", "show reverse_cross"},
    {"cli/show_recall.txt", "show recall"},
    {"cli/show_duplicate.txt", "show duplicate"},
    {"cli/show_brackets.txt", "show brackets"},
    {"cli/show_grid.txt", "show grid"},
    {"cli/show_patches.txt", "show patches"},
    {"cli/show_assign.txt", "show assign"},
    {"cli/show_histogram.txt", "show histogram"},
    {"cli/show_english.txt", "show english"},
    {"cli/show_command.txt", "show command"},
    {"cli/show_file.txt", "show file"},
    {"cli/explain.txt", "explain"},
    {"cli/explain_lift.txt", "explain lift"},
    {"cli/explain_query.txt", "explain query"},
    {"cli/explain_own_a_head.txt", "explain own a head"},
    {"cli/explain_mistakes.txt", "explain mistakes"},
    {"cli/explain_five_tokens.txt", "explain five-tokens"},
    {"cli/explain_cat_sleeps.txt", "explain cat-sleeps"},
    {"cli/explain_five_tokens_query_sat.txt", "explain five-tokens --query sat"},
    {"cli/cost.txt", "cost"},
    {"cli/completion.bash", "completion bash"},
    {"cli/completion.zsh", "completion zsh"},
    {"cli/completion.fish", "completion fish"},
};

/// Commands whose sentences are in other golden files.
constexpr const char* kOthers[] = {"list columns", "train --task text --help", "cost --heads 7"};

using GoldenCommands = Program;

/// The output without the version, which changes with each release.
std::string without_version(std::string output) {
  const std::string version = text("headlab ", headlab::version());
  for (std::size_t at = output.find(version); at != output.npos; at = output.find(version, at)) {
    output.replace(at, version.size(), "headlab VERSION");
  }
  return output;
}

TEST_F(GoldenCommands, PrintTheirGoldenFiles) {
  for (const GoldenCommand& command : kCommands) {
    SCOPED_TRACE(text("headlab ", command.words));
    expect_golden(command.file, without_version(done(typed(command.words)).out));
  }
}

TEST_F(GoldenCommands, IncludeTheHelpOfEveryCommand) {
  for (const Command& command : commands()) {
    const std::string help = text(command.name, " --help");
    const auto prints_it = [&](const GoldenCommand& row) { return row.words == help; };
    EXPECT_TRUE(std::ranges::any_of(kCommands, prints_it)) << help;
  }
}

/// Scripts of shells and the recommended settings of tasks have lines of any length.
TEST_F(GoldenCommands, FitATerminalOf80Columns) {
  Words all(std::begin(kOthers), std::end(kOthers));
  for (const GoldenCommand& command : kCommands) all.emplace_back(command.words);
  for (const std::string& words : all) {
    if (words.starts_with("completion ") && words != "completion --help") {
      continue;
    }
    const std::string output = done(typed(words)).out;
    for (const std::string_view line : split(output, '\n')) {
      const bool recommends = line.find("it recommends ") != line.npos;
      EXPECT_TRUE(recommends || display_width(line) <= 80) << words << "\n" << line;
    }
  }
}

}  // namespace
}  // namespace headlab::cli
