// Pages of stored patterns: they say what arrays can say, and nothing about a model that is not
// there. Read next: src/app/report/page_stored.cc.
#include "headlab/lab/heads/scores/stored_patterns.h"
#include "report/page_story.h"
#include "support/stored_files.h"

namespace headlab { namespace {

class StoredPages : public PageStory {
 protected:
  Page page_of(std::int64_t examples, bool with_truth) {
    write_stored_files(folder_.path(), examples);
    return page_of_truth(with_truth ? "f.jsonl" : "");
  }
  /// A page of the arrays in the folder with the ground truth of a file there; "": without any.
  Page page_of_truth(const std::string& truth) {
    const StoredPatterns patterns({.patterns = (folder_ / "p.npy").string(),
                                   .tokens = (folder_ / "t.json").string(),
                                   .truth = truth.empty() ? "" : (folder_ / truth).string()});
    Json heads = to_json(result_of(score_heads(patterns), {.all = true}));
    heads["command"] = "headlab heads --patterns p.npy --tokens t.json";
    return make_page(patterns, {.name = "p.npy", .heads = heads},
                     {.command = "headlab page --patterns p.npy --tokens t.json"});
  }
};

TEST_F(StoredPages, SayWhichHeadOwnsARelation) {
  expect_said(page_of(40, true),
              {says("#view=first", "headline", {"4 heads; 1 has a question of its own."},
                    {"Try to break"}),
               says("#view=first&h=0.1", "drawer",
                    {"It is the owner", "Known pattern", "Focus", "Most similar head"},
                    {"Needed?", "Emerged", "pruning", "Ablate"}),
               says("#view=head&h=0.1", "view", {"Known patterns", "Compared with the baseline"},
                    {"weights", "Output", "Over training", "Switch"}),
               says("#view=results", "view", {"0.1 owns same"}, {"folder", "enough"}),
               says("#view=about", "view", {"16 of 40 examples are shown"}, {"Settings"})});
}

TEST_F(StoredPages, NeedNoGroundTruth) {
  expect_said(page_of(40, false),
              {says("#view=first", "headline", {"4 heads."}),
               says("#view=first", "detail",
                    {"Attention patterns of a model from an array", "stored in 8 bits"}),
               says("#view=first&q=5", "all-heads", {"All heads at", "column for each layer"}),
               says("#view=head&h=0.0", "view", {"Known patterns"},
                    {"Compared with the baseline"})});
}

TEST_F(StoredPages, SayThatFewExamplesAreNoTest) {
  expect_said(page_of(12, true), {says("#view=first", "headline", {"too few examples"})});
}

/// No head can be told from one that looks at fixed positions; the header can say that this is
/// meant.
TEST_F(StoredPages, AskForPositionalIfEverySequenceHasTheSameKeys) {
  write_stored_files(folder_.path(), 40);
  std::string truth;
  for (int b = 0; b < 40; ++b)
    truth += R"({"truth":{"same":{"3":[2],"5":[4]}}})"
             "\n";
  write_file(folder_ / "fixed.jsonl", truth);
  const char* hint = "write \"positional\": true for the relation in the header";
  expect_said(page_of_truth("fixed.jsonl"),
              {says("#view=first", "headline", {"cannot be tested", "same keys"}),
               says("#view=first", "detail", {hint}),
               says("#view=first&h=0.0", "drawer", {"Not tested:", "same keys"}, {"owner of"})});
  write_file(folder_ / "positional.jsonl",
             R"({"header":{"relations":[{"name":"same","positional":true}]}})"
             "\n" +
                 truth);
  expect_said(page_of_truth("positional.jsonl"),
              {says("#view=first", "detail", {"stored in 8 bits"}, {hint})});
}

TEST_F(StoredPages, IgnoreTypedTokens) {
  expect_said(page_of(20, true),
              {says("#view=first&tokens=0,0,0", "headline", {"4 heads"}, {"Your own tokens"})});
}

}}  // namespace headlab
