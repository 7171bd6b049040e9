// Attention patterns of any model, from arrays: the flags that name their files, and `headlab heads
// --patterns`, which scores them like the heads of a run. No run is opened or written. Read next:
// heads.cc, page.cc; lab/heads/scores/stored_patterns.h.
#include "app/cli/commands.h"

namespace headlab::cli {

void StoredPatternFlags::add_to(Flags& settings) {
  settings.group("patterns of any model, instead of a run");
  settings.naming(ValueKind::file, "patterns", files.patterns,
                  "weights [layers, heads, queries, keys] (NumPy); several examples in front");
  settings.naming(ValueKind::file, "tokens", files.tokens,
                  "words, or {\"queries\", \"keys\"}, as JSON; a list for each example");
  settings.naming(ValueKind::file, "truth", files.truth,
                  "ground truth of each example, as in a task file");
  settings.boolean("unnormalised", files.unnormalised,
                   "accept patterns whose rows do not sum to 1");
  settings.mark_display({"patterns", "tokens", "truth", "unnormalised"});
  settings.needs({"tokens", "truth", "unnormalised"}, {flag_given("patterns")});
}

StoredPatterns StoredPatternFlags::read(const Invocation& call) const {
  const std::string example =
      text("headlab ", call.command().name, " --patterns P.npy --tokens T.json",
           call.command().name == std::string("page") ? " --out F.html" : "");
  if (!call.positionals().empty()) {
    throw UsageError(text("unexpected argument '", call.positionals()[0],
                          "': --patterns needs no run"),
                     example);
  }
  if (files.tokens.empty()) throw UsageError("cannot use --patterns: it needs --tokens", example);
  return StoredPatterns(files);
}

Output scores_output(const HeadsReport& report, const HeadsShown& shown, bool explain) {
  const Result found = result_of(report, shown);
  const Legend legend = explain ? Legend::lines : Legend::none;
  Output output{.text = toned_text_of(found, {.width = stdout_width()}, legend),
                .tables = found.tables};
  std::vector<std::string> more;
  if (!found.tables[0].shown) more.emplace_back("every head: --all");
  if (!explain) more.emplace_back("meanings of the columns: --explain");
  if (!more.empty()) output.text += "\n" + join(more, "; ") + "\n";
  return output;
}

Output scores_of_stored(const Invocation& call, const StoredPatterns& patterns,
                        const HeadsOptions& options, HeadsShown shown, bool explain) {
  const HeadsReport report = score_heads(patterns, options);
  shown.scores = shown.scores || report.relations.empty();
  Result found = result_of(report, {.all = true});
  found.about["patterns"] = call.value("patterns");
  Output output = scores_output(report, shown, explain);
  call.check_table(output.tables);
  output.json = to_json(found);
  output.text += text("\n", examples_text(patterns, report), "\n");
  return output;
}

}  // namespace headlab::cli
