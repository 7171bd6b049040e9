// Tables of the lessons: worked examples and corrections. Tests compute the figures of each
// correction from the functions of lessons.h and cost.h and compare them with the text here. Read
// next: published_models.cc.
#include <algorithm>
#include <iterator>

#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

/// Worked examples in the form of `explain attention --file`. W_O is half a Hadamard matrix:
/// orthogonal, and every output weighs all four inputs equally. `from_input`: q = k = v = x, so
/// W_Q, W_K and W_V are identity matrices.
constexpr const char* kWorkedExamples[] = {
    R"({"name": "five-tokens", "title": "five tokens", "from_input": false, "heads": 2,
        "tokens": ["The", "cat", "sat", "on", "mat"],
        "q": [[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]],
        "k": [[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]],
        "v": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]],
        "W_O": [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5],
                [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]})",
    R"({"name": "cat-sleeps", "title": "two tokens", "from_input": true, "heads": 2,
        "tokens": ["Cat", "sleeps"],
        "q": [[1, 2, 0, 0], [0, 0, 1, 2]],
        "k": [[1, 2, 0, 0], [0, 0, 1, 2]],
        "v": [[1, 2, 0, 0], [0, 0, 1, 2]],
        "W_O": [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5],
                [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]})"};

/// Claim of an article that its own numbers or its sources contradict.
struct Correction {
  const char* topic;  // topic of `explain` and of a lesson
  const char* claim;  // in our words
  const char* fact;   // the correction; figures as computed by lessons
  const char* source;
};
constexpr Correction kCorrections[] = {
    {"five-tokens", "each head sees a different slice of the representation",
     "every head computes q, k and v from all of x. The projected vector x W_Q is split into "
     "heads, not x. The worked example begins after that step",
     "Vaswani et al. 2017, section 3.2.2"},
    {"cat-sleeps", "head 2 writes 0.00 0.00 for \"Cat\": the row of its half of the data is 0",
     "a query of 0 gives all keys the same score, so its weights are .5000 .5000, and head 2 "
     "writes the mean of the values, .5000 1.0000. Head 1 does the same for \"sleeps\"",
     "the softmax of equal scores"},
    {"cat-sleeps", "a single head would merge the two tokens, two heads keep them apart",
     "on these numbers one head separates them better: each token gives itself a weight of .9241. "
     "With two heads, each token gives both tokens .5000 in the head whose columns are 0 for it",
     "the same two tokens with one head"},
    {"patterns", "the example's pattern of the previous token is attention, row by row",
     "its first row sums to .2167: the first token has no previous token, so both weights are "
     "written to the same cell and one is lost",
     "the article's own code"},
    {"patterns", "the example's pattern of the first token is attention, row by row",
     "its first row sums to 1.0167: the remaining weight is divided by a number of keys that is "
     "too small by one",
     "the article's own code"},
    {"patterns", "when all tokens look at the first, that token gathers the whole sentence",
     "the query gathers, not the key: a full first column copies the first token to all others; a "
     "full first row would gather",
     "the article's own code, whose rows are queries"},
    {"cost", "multi-head attention has one matrix more than a single head, 4 d^2 against 3 d^2",
     "a single head inside a transformer has its W_O too: 4 d^2 for any number of heads",
     "Vaswani et al. 2017, table 3 (A)"},
    {"cost", "attention takes time in N^2 d",
     "that leaves out the four projections: 8 N d^2 operations, compared with 4 N^2 d. Up to N = 2 "
     "d they are the larger part",
     "counted"},
    {"cost", "the number of heads must divide d_model: 512 / 7 raises an error",
     "it does in PyTorch, but the formula does not require it: a sweep here makes heads floor(512 "
     "/ 7) = 73 wide, so 7 heads fill 511 columns and W_O is [511, 512]",
     "torch.nn.MultiheadAttention"},
    {"cost", "d_k = 64 is where the scaling by sqrt(d_k) behaves well",
     "the scaling makes the variance of scores 1 for every d_k; 64 is only a convention, and the "
     "article's own table has a 32",
     "Vaswani et al. 2017, section 3.2.1"},
    {"cost", "the keys and values of GPT-3 for 2048 tokens take about 3 GB in fp16",
     "2 x 96 layers x 96 heads x 128 x 2048 = 4,831,838,208 numbers: 9.66 GB", "counted"},
    {"cost", "the scores of 96 heads at 8192 tokens take about 6 GB",
     "96 x 8192^2 = 6,442,450,944 scores: 12.9 GB in fp16, 25.8 GB in fp32", "counted"},
};

}  // namespace

std::span<const char* const> worked_example_texts() { return kWorkedExamples; }

Table corrections_table() {
  Fields<Correction> fields;
  fields.add(Column("topic", "topic").hidden(), &Correction::topic);
  fields.add({"claim", "claim"}, &Correction::claim);
  fields.add({"fact", "correction"}, &Correction::fact);
  fields.add({"source", "by"}, &Correction::source);
  return fields.table({.name = "corrections", .title = "Common mistakes, and what is true"},
                      kCorrections);
}

Table known_patterns_table() {
  Fields<ScoreEntry> fields;
  fields.add({"name", "pattern"}, &ScoreEntry::name);
  fields.add({"meaning", "what is scored"}, &ScoreEntry::meaning);
  std::vector<ScoreEntry> known;
  std::ranges::copy_if(score_table(), std::back_inserter(known),
                       [](const ScoreEntry& score) { return score.from.known.rule != nullptr; });
  return fields.table({.name = "patterns", .title = "Patterns to know"}, known);
}

Json lessons_json() {
  const Json::Array examples =
      mapped(worked_example_texts(), [](const char* worked) { return Json::parse(worked); });
  Json::Array patterns;
  for (const auto& [name, meaning, from, decimals] : score_table()) {
    const auto& [rule, first, last] = from.known;
    if (rule != nullptr) {
      patterns.push_back(
          Json::object({{"name", name}, {"rule", rule}, {"from", first}, {"to", last}}));
    }
  }
  return Json::object({{"worlds", examples}, {"patterns", patterns}});
}

}  // namespace headlab
