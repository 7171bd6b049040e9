// The meanings. A word has one meaning wherever it stands; where a table needs more than its titles
// say, its legend says it in two lines of at most 100 columns.
// Read next: heads_text.cc, which shows them.
#include "report/columns.h"

#include <algorithm>

#include "headlab/base/error.h"

namespace headlab {
namespace {

constexpr ColumnEntry kColumns[] = {
    // runs
    {"loss",
     "mean cross-entropy in nats per target; 0 is perfect, ln V is guessing among V tokens"},
    {"parameters", "numbers that training sets"},
    {"step", "of training"},
    // heads
    {"head",
     "LAYER.HEAD: attention modules and the heads of each, counted from 0 as they were born"},
    {"relation", "which keys a query of the task must read: known, because the task made them"},
    {"best head",
     "the head with the most attention on the relation's keys, chosen on half of the "
     "examples and shown on the other half"},
    {"mass", "mean attention on the relation's keys, 0 to 1"},
    {"top1", "share of queries whose largest weight is on one of the relation's keys, 0 to 1"},
    {"lift", "how far the mass lies above the null: 0 is the null, 1 is perfect"},
    {"null",
     "the mass of the strongest pattern that ignores content: uniform, a fixed offset, or "
     "the head's own average pattern"},
    {"untrained", "the mass of the best head before training"},
    {"p", "how often chance does as well: small is significant, below .01 counts"},
    {"verdict", "what the numbers of the row say in words"},
    {"best offset", "top1 of a reader that always looks the same distance away"},
    {"nearest",
     "top1 of a reader that takes the nearest key of the right kind; on a map, the "
     "head whose patterns are most alike"},
    {"top1 where wrong", "top1 of the best head on the queries that this reader gets wrong"},
    {"specialization", "share of relations that have a head of their own, no head counted twice"},
    {"argmax offset", "where most of the largest weights are, in positions from the query"},
    {"labels", "scores on which the head stands out, in words, each with the queries it rests on"},
    {"x", "place on the map: heads with like patterns lie near each other"},
    {"y", "place on the map: heads with like patterns lie near each other"},
    {"distance", "between patterns: 0 the same, 0.83 nothing in common"},
    {"conf.", "confidence: the mean of each query's largest weight, 0 to 1"},
    {"born", "the first scored step at which the lift reaches half of its last value"},
    {"lift over training",
     "the lift at evenly spaced steps, from a low block at 0 to a full one at 1"},
    // causes
    {"95% interval", "where the number would lie in 95 of 100 repetitions with other examples"},
    {"heads", "a pair of heads, or how many there are"},
    {"examples", "how many examples the number rests on"},
    // pruning
    {"heads kept", "how many stay; below, the loss for each method"},
    {"method", "how heads are chosen"},
    {"area", "mean loss along the curve over the share of heads kept: small is good"},
    {"regret", "mean loss above that of the best subset of the same size: 0 is the optimum"},
    {"rank corr", "Spearman's correlation of how long a head is kept with what silencing it costs"},
    {"steps", "of training behind the model, those with gates and of fine-tuning included"},
    {"knee", "the fewest heads whose loss lies within 1% of the way from all heads to none"},
    {"knee of each run", "the knee, run by run"},
    {"forward", "sequences that went through the model to choose"},
    {"backward", "sequences whose gradient was taken to choose"},
    {"seconds", "that choosing took"},
    // experiments
    {"cells", "runs of a sweep that differ by the seed alone, by what they have in common"},
    {"seeds", "how many runs the means are over"},
    {"own a head", "specialization: share of relations that have a head of their own"},
    {"lift, seeds that own", "mean lift of the relation's head, and in how many seeds it owns it"},
    {"against the first",
     "loss of this method - loss of the first method, seed by seed: mean ± 95% "
     "interval; below 0 it is better"},
    {"effect", "that mean / the standard deviation of the differences: .8 and more is large"},
    {"change of loss", "rise of the loss in nats when the head is silenced"},
    {"only one head left in",
     "the attention module in which one head stays, all others being whole"},
    {"chosen in sample", "the best single head, chosen on the examples it is judged on"},
    {"out of sample", "the best single head, chosen on other examples"},
    {"change of loss there", "on the examples it was not chosen on"},
    {"trained steps", "how far the model was when it was pruned"},
    {"lambda", "the price of an open gate in nats"},
    {"survivors", "heads whose gates stay above 0"},
    {"fine-tuned", "loss after training on with the heads that are left"},
    {"against scratch", "loss less that of as many heads trained anew for as many steps, by run"},
    {"heads removed", "share of the heads that went, those of least importance first"},
    {"self", "survivors in self-attention"},
    {"encoder", "survivors in the encoder"},
    {"cross", "survivors in cross-attention"},
    {"from scratch: loss", "loss of the same heads trained from initial values"},
    {"accuracy there", "accuracy of the same heads trained from initial values"},
    {"before", "the relation's best head before pruning"},
    {"lift before", "its lift before pruning"},
    {"after", "the relation's best head after pruning"},
    {"lift after", "its lift after pruning"},
    // lessons and costs
    {"key", "a token that a query may look at"},
    {"products", "query times key, element by element; their sum is the score"},
    {"largest product", "the largest of query times key, element by element"},
    {"score", "query times key: q k^T"},
    {"scaled", "score / sqrt(width of the head)"},
    {"exp", "e to the power of scaled, less the largest of the row"},
    {"weight", "exp / the sum of the row: what the query takes from the key"},
    {"v", "the key's value"},
    {"|v|", "length of the key's value"},
    {"weight v", "what the key adds to the output"},
    {"weight |v|", "length of what the key adds to the output"},
    {"width", "columns that a head has of q, k and v"},
    {"diversity", "mean Jensen-Shannon distance of rows over all pairs of heads"},
    {"uniform", "distance from uniform attention"},
    {"most like", "the known pattern that the head is clearly nearer to than uniform attention is"},
    {"module", "an attention module, by the name of its parameters"},
    {"token", "as the task shows it"},
    {"q", "the token's query, the columns of each head apart"},
    {"k", "the token's key, the columns of each head apart"},
    {"q k^T", "the scores of a query, a column for each key"},
    {"weights", "the softmax of the scaled scores, a column for each key"},
    {"output", "weights times values"},
    {"|output|", "length of weights times values"},
    {"average", "weights averaged over heads, a column for each key"},
    {"concatenated", "the outputs of all heads side by side"},
    {"after W_O", "the same times W_O: what attention adds to the stream"},
    {"kind", "of attention, by how many heads share a block of keys and values"},
    // checks and benchmarks
};

struct Legend {
  const char* table;
  const char* text;
};
constexpr Legend kLegends[] = {
    {"winners",
     "mass: attention on the relation's keys; lift: mass above the null, 1 is perfect; p: chance "
     "does as\nwell; a head owns a relation (*) from lift .3 with p < .01; untrained: mass before "
     "training\n"},
    {"baselines",
     "top1 of readers without a model, and of the head where they are wrong: a head that only does "
     "what\nthey do scores low there\n"},
    {"shapes",
     "shares of attention by what stands at the key, 0 to 1; entropy in nats, distance in "
     "positions\n"},
    {"curve",
     "area: mean loss along the curve; regret: loss above the best choice of that size, 0 is the "
     "best;\nknee: fewest heads within 1% of the full loss; steps: of training behind each "
     "model,\nfine-tuned or from scratch; forward, backward: sequences spent to choose\n"},
};

}  // namespace

std::span<const ColumnEntry> column_table() { return kColumns; }

std::string legend(std::string_view table) {
  const auto found = std::ranges::find(kLegends, table, &Legend::table);
  require(found != std::end(kLegends), "there is no legend of the table ", table);
  return std::string("\n") + found->text;
}

}  // namespace headlab
