// `headlab compare ARM ARM ...`: compares arms seed by seed and tests whether the difference could
// be chance. Writes no file but a picture, if one is requested.
// Read next: lab/studies/compare.h, which defines an arm.

#include <algorithm>

#include "app/cli/advice.h"
#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Returns two arms to compare in place of a single one: runs inside it if it is a folder of runs,
/// or itself and a run next to it.
std::string two_arms(const std::string& only) {
  const std::filesystem::path path(only);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const std::vector<std::string> inside = runs_near(path);
    if (inside.size() > 1) return shell_word(inside[0]) + " " + shell_word(inside[1]);
  }
  std::vector<std::string> others =
      runs_near(path.parent_path().empty() ? "." : path.parent_path());
  for (std::string& run : others) run = std::filesystem::path(run).lexically_normal().string();
  std::erase(others, path.lexically_normal().string());
  return shell_word(only) + " " + (others.empty() ? "ARM" : shell_word(others[0]));
}

/// Throws a UsageError for a single arm, with a command that compares two.
void require_two(const Invocation& call, const std::vector<Arm>& arms) {
  if (arms.size() != 1) return;
  throw UsageError("cannot compare a single arm: name two or more",
                   text(program_call(), " compare ", two_arms(call.positionals()[0])));
}

}  // namespace

Output compare(Invocation& call) {
  CompareOptions options;
  PictureFlags picture;
  Flags s;
  s.naming(ValueKind::measure, "measure", options.measure,
           join(texts_of(measures(), &Measure::name), ", "));
  s.naming(ValueKind::run, "reference", options.reference,
           "arm to compare the others with (default: the first)", {.placeholder = "ARM"});
  s.real("margin", options.margin, 0, 1000,
         "smallest difference that counts (0: that of the measure)");
  picture.add_to(s);
  call.read(s, {},
            "\nan arm is a run, a folder of runs, RUN+RUN, SWEEP/GROUP, or SWEEP (an arm for\n"
            "each group). Append :METHOD@KEPT to compare the models that a pruning method\n"
            "left with KEPT heads, or :METHOD for regret, used and needed. These arms need a\n"
            "curve: run `headlab curve` first\n");
  picture.units();
  require_known("measure", options.measure, texts_of(measures(), &Measure::name));
  const Measure& measure = find_measure(options.measure);
  std::vector<Arm> arms;
  for (const std::string& name : call.positionals()) {
    for (Arm& arm : arms_of(name, measure)) arms.push_back(std::move(arm));
  }
  require_two(call, arms);
  const Result found = compare_arms(arms, options);
  for (const Json& one : found.about.at("notes").items()) note("note: " + one.string());
  return with_picture(call, picture, reproducible(call, found),
                      [&](double units) { return compare_figure(arms, options, units); });
}

}  // namespace headlab::cli
