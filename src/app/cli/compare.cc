// `headlab compare ARM ARM ...`: compares arms seed by seed and tests whether the difference could
// be chance. Writes no file but a picture, if one is requested.
// Read next: lab/studies/compare.h, which defines an arm.

#include "app/cli/commands.h"

namespace headlab::cli {

Output compare(Invocation& call) {
  CompareOptions options;
  PictureFlags picture;
  Flags s;
  s.string("measure", options.measure, join(texts_of(measures(), &Measure::name), ", "), "NAME");
  s.string("reference", options.reference, "arm to compare the others with (default: the first)",
           "ARM");
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
  const Result found = compare_arms(arms, options);
  for (const Json& one : found.about.at("notes").items()) note("note: " + one.string());
  return with_picture(call, picture, reproducible(call, found),
                      [&](double units) { return compare_figure(arms, options, units); });
}

}  // namespace headlab::cli
