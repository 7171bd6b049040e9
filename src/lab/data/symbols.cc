// Copy, sort, reverse and reverse_cross: n symbols, with n drawn from `shortest` to `longest`, and
// an answer with the same symbols, reordered. Tokens 0 ... symbols - 1 are the symbols, and the
// token `symbols`, shown as |, separates the answer: from it on, each token predicts the next one.
// Shorter sequences are padded. A decoder reads "symbols | answer"; the last answer is predicted
// and not read, so a sequence has 2n tokens. An encoder-decoder reads the symbols as its source and
// "| answer" as its tokens. The comments of the four rows below describe their differences, ground
// truth and pitfalls.
// Read next: headlab/core/tasks/definition.h.
#include <algorithm>
#include <numeric>

#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

enum class Order { as_given, ascending, backwards };

struct Symbols {
  bool distinct = false;          // no symbol occurs twice; otherwise all are independent
  bool beside_source = false;     // an encoder-decoder
  Order order = Order::as_given;  // of the answer
  const char* truth;              // the name of the relation
  const char* meaning;            // and its description
  Index heads = 0;                // see Task::needed_heads

  Index symbols = 16, shortest = 4, longest = 10, gap = 0;

  void bind(Settings& s) {
    s.integer("symbols", symbols, 1, 1 << 20, "number of symbols; the separator comes on top");
    s.integer("shortest", shortest, 1, 32768, "fewest symbols in a sequence");
    s.integer("longest", longest, 1, 32768, "most symbols in a sequence");
    if (order == Order::ascending) {
      s.integer("gap", gap, 0, 32768,
                "n symbols lie among n * gap neighbours, about gap apart; 0: among all");
    }
  }
  void prepare() const {
    require(shortest <= longest, "shortest ", shortest, " must not exceed longest ", longest);
    require(!distinct || longest <= symbols, longest, " distinct symbols need symbols ", longest,
            " or more, got ", symbols);
    require(longest * gap <= symbols, longest, " symbols with a gap of ", gap, " need symbols ",
            longest * gap, " or more, got ", symbols);
  }
  TaskShape shape() const {
    if (beside_source) return {Architecture::encoder_decoder, symbols + 1, longest, 1, longest};
    return {Architecture::decoder, symbols + 1, 2 * longest};
  }
  /// With a source the key follows from positions alone: exchanging ground truth among examples
  /// could not distinguish chance from skill.
  std::vector<Relation> relations() const {
    return {{truth, meaning, beside_source,
             beside_source ? AttentionKind::cross : AttentionKind::self}};
  }
  Index needed_heads() const { return heads; }
  std::vector<std::string> target_names() const { return {"symbol"}; }
  std::string token_text(Index token) const { return token == symbols ? "|" : letter_text(token); }

  std::vector<std::int32_t> draw(Generator& random) const {
    const Index n = random.between(shortest, longest);
    std::vector<std::int32_t> drawn(n);
    const Index among = gap == 0 ? symbols : n * gap;
    if (distinct) {
      (drawn = draw_distinct(among, n, random)).resize(n);
    } else {
      fill_uniform(drawn, symbols, random);
    }
    const Index first = among < symbols ? random.between(0, symbols - among) : 0;
    for (std::int32_t& symbol : drawn) symbol += id(first);
    return drawn;
  }

  /// Returns the positions of the symbols in the order of the answer: element j is the ground-truth
  /// key of the query that predicts answer j.
  std::vector<std::int32_t> ordered(const std::vector<std::int32_t>& drawn) const {
    std::vector<std::int32_t> places(drawn.size());
    std::iota(places.begin(), places.end(), 0);
    if (order == Order::backwards) std::ranges::reverse(places);
    if (order == Order::ascending) {
      std::ranges::sort(places, {}, [&](std::int32_t place) { return drawn[place]; });
    }
    return places;
  }

  void write(Sequence& s) const {
    Batch& batch = s.example.batch;
    const std::vector<std::int32_t> drawn = draw(s.random);
    const Index n = std::ssize(drawn), separator = beside_source ? 0 : n;
    std::ranges::copy(drawn, beside_source ? &batch.source_token(s.b, 0) : &s.token(0));
    if (beside_source) batch.source_lengths.push_back(id(n));
    s.pad_behind(separator + n);
    s.token(separator) = id(symbols);
    const std::vector<std::int32_t> places = ordered(drawn);
    for (Index j = 0; j + 1 < n; ++j) s.token(separator + j + 1) = drawn[places[j]];
    ask(s, separator, drawn, places);
  }
  /// Sets targets for the symbols at these positions from the separator on, up to the end of the
  /// sequence.
  void ask(Sequence& s, Index separator, const std::vector<std::int32_t>& drawn,
           const std::vector<std::int32_t>& places) const {
    for (Index j = 0; j < std::ssize(places) && separator + j < s.length(); ++j) {
      s.target(separator + j) = drawn[places[j]];
      s.add_truth(0, separator + j, places[j]);
    }
  }
  void answer(Sequence& s) const {
    const auto separator = std::ranges::find(s.tokens(), id(symbols));
    const std::vector<std::int32_t> drawn(s.tokens().begin(), separator);
    if (separator != s.tokens().end()) ask(s, std::ssize(drawn), drawn, ordered(drawn));
  }
};

}  // namespace

/// Distinct symbols | the same, in the same order. Ground truth: `original`: at position n + j (the
/// separator is n) the answer is at position j. No fixed offset finds it, because n varies.
/// Pitfall: no counting is needed: the answer also follows the earlier occurrence of the same
/// token, so the head is an induction head. If symbols could repeat, that rule would fail.
TaskEntry copy_task() {
  return task_entry(
      Symbols{.distinct = true,
              .truth = "original",
              .meaning =
                  "the symbol as far after the beginning as the answer is after the separator",
              .heads = 2},  // one in each of two layers
      {"copy",
       "write symbols again, after a separator",
       "layers=2 heads=1 d_model=64 d_ff=0 steps=800 lr=3e-3",
       {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

/// Distinct symbols | the same, ascending. Ground truth: `larger`: at position n + j the answer is
/// the smallest symbol above the token there (at the separator: of all), at any position before the
/// separator. The query's token determines the key, so one layer is enough.
/// Pitfall: several heads do not imply several relations: this one is distributed over four heads,
/// which are no better than one. The distribution may depend on `gap`: Urdshals and Urdshals 2025
/// (arXiv 2501.18666).
TaskEntry sort_task() {
  return task_entry(
      Symbols{.distinct = true,
              .order = Order::ascending,
              .truth = "larger",
              .meaning =
                  "the smallest symbol above this one; after the separator, the smallest of all",
              .heads = 1},
      {"sort",
       "write distinct symbols in ascending order, after a separator",
       "layers=1 heads=2 d_model=64 d_ff=0 steps=800 lr=3e-3",
       {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

/// Symbols, repetitions allowed | the same, from the last to the first. Ground truth: `mirror`: at
/// position n + j (the separator is n) the answer is at position n - 1 - j, as far before the last
/// symbol as the query is after the separator. Neither an offset nor content finds it: the first
/// layer must locate the separator, the second attends. Pitfall: a repeated symbol can give the
/// right answer from the wrong key, and the first layer mixes neighbours, so the ground-truth key
/// gets less attention than its importance suggests.
TaskEntry reverse_task() {
  return task_entry(Symbols{.order = Order::backwards,
                            .truth = "mirror",
                            .meaning = "the symbol to copy: the input is read backwards",
                            .heads = 2},  // one in each of two layers
                    {"reverse",
                     "write symbols backwards, after a separator",
                     "layers=2 heads=2 d_model=64 d_ff=0 steps=2000 lr=3e-3 beta2=0.95",
                     {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

/// Reverse for an encoder-decoder. Ground truth: `mirror`, of cross-attention: at position j of the
/// decoder the answer is at position n - 1 - j of the source.
/// Pitfall: the encoder mixes positions, so an answer may also be found next to its key. An encoder
/// without layers mixes nothing, but does not mark the end of the source either.
TaskEntry reverse_cross_task() {
  return task_entry(Symbols{.beside_source = true,
                            .order = Order::backwards,
                            .truth = "mirror",
                            .meaning = "the symbol to copy: the source is read backwards"},
                    {"reverse_cross",
                     "write a source backwards: an encoder-decoder",
                     "encoder_layers=1 layers=1 heads=1 d_model=64 d_ff=0 steps=800 lr=3e-3",
                     {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
