// Topics compute by heads/lessons.h, show by report/lessons_text.h, and print as JSON all that they
// show as text. What articles get wrong of a topic stands at its end. Read next: topics_of_runs.cc,
// where the numbers are a run's.
#include "cli/topics.h"

#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "cli/topics_of_runs.h"
#include "headlab/base/files.h"
#include "headlab/base/numpy_random.h"
#include "headlab/base/statistics.h"
#include "headlab/base/text.h"
#include "headlab/heads/lessons.h"
#include "headlab/report/lessons_text.h"

namespace headlab::cli {
namespace {

constexpr Index kMostTokens = 64, kMostWidth = 1024;  // of what is written out

/// Queries by token or by number; an empty name is all of them, -1.
Index query_of(const std::string& name, const std::vector<std::string>& tokens) {
  if (name.empty()) return -1;
  const auto token = std::ranges::find(tokens, name);
  if (token != tokens.end()) return token - tokens.begin();
  double number = 0;
  if (parse_number(name, number) && number >= 0 && number < static_cast<double>(tokens.size()) &&
      number == static_cast<double>(static_cast<Index>(number)))
    return static_cast<Index>(number);
  throw UsageError(text("--query ", name, ": there is no such token"),
                   text("known: ", join(tokens, ", "), "; or a number from 0 to ",
                        tokens.size() - 1));
}

Json heads_json(const ShownHeads& shown) {
  Json heads = Json::array();
  for (const HeadSteps& head : shown.heads) heads.push_back(to_json(head));
  return heads;
}

/// One world in `heads` heads, whole or for one query.
Result show_world(const Invocation& call, const TopicFlags& flags, const LessonWorld& world) {
  const Index H = flags.heads == 0 ? world.heads : flags.heads;
  const Index width = world.q.columns();
  if (width % H != 0)
    throw UsageError(text("--heads ", H, ": width ", width, " does not divide into ", H, " heads"),
                     text("take a divisor of ", width, ". A sweep would make each head floor(",
                          width, " / ", H, ") = ", width / H,
                          " wide; PyTorch refuses, as this does"));
  const ShownHeads shown = shown_heads(world.tokens, attend_in_heads(world.q, world.k, world.v, H));
  const Index query = query_of(flags.query, world.tokens);
  const std::string head = text(world.title, ": width ", width, " in ", H,
                                H == 1 ? " head" : " heads", " of width ", width / H, "\n\n");
  Json silent = Json::array();
  for (std::size_t h = 0; h < shown.heads.size(); ++h)
    silent.push_back(change_when_silent(shown.heads, h, world.W_O));
  const Matrix z = concatenated(shown.heads);
  Json json = stamped({{"topic", world.name},
                       {"tokens", world.tokens},
                       {"query", query < 0 ? Json() : Json(query)},
                       {"heads", heads_json(shown)},
                       {"average", average_weights(shown.heads)},
                       {"concatenated", z},
                       {"W_O", world.W_O},
                       {"output", z * world.W_O},
                       {"change_when_silent", std::move(silent)},
                       {"diversity", diversity_of(shown.heads)}});
  if (query >= 0) return reproducible(call, std::move(json), head + query_text(shown, query));
  return reproducible(call, std::move(json),
                      head + matrices_text(shown) + mixing_text(shown, world.W_O) +
                          uniform_text(shown) + "one query, product by product: add --query " +
                          world.tokens.back() + "\n");
}

template <const char* name>
Result show_named(const Invocation& call, const TopicFlags& flags) {
  return show_world(call, flags, lesson_world(name));
}
constexpr char kFiveTokens[] = "five-tokens", kCatSleeps[] = "cat-sleeps";

/// A matrix from rows of numbers, all as long as the first.
Matrix matrix_of(const Json& rows, const char* name, std::size_t expected) {
  require(rows.items().size() == expected, name, " has ", rows.items().size(), " rows for ",
          expected, " tokens");
  const std::size_t columns = rows.items()[0].items().size();
  require(0 < columns && columns <= kMostWidth, name, " is ", columns, " wide: 1 to ", kMostWidth,
          " can be shown");
  Matrix matrix(std::ssize(rows.items()), static_cast<Index>(columns));
  for (Index i = 0; i < matrix.rows(); ++i) {
    const Json::Array& row = rows.items()[static_cast<std::size_t>(i)].items();
    require(row.size() == columns, name, " has a row of ", row.size(), " numbers after one of ",
            columns);
    for (Index j = 0; j < matrix.columns(); ++j)
      matrix(i, j) = row[static_cast<std::size_t>(j)].number();
  }
  return matrix;
}

/// {"tokens", "q", "k", "v"}, and "heads" and "W_O" if they are there.
LessonWorld world_in_file(const std::string& file) {
  const Json json = Json::parse(read_file(file), file);
  std::vector<std::string> tokens;
  for (const Json& token : json.at("tokens").items()) tokens.push_back(token.string());
  require(!tokens.empty() && std::ssize(tokens) <= kMostTokens, file, " holds ", tokens.size(),
          " tokens: 1 to ", kMostTokens, " can be shown");
  const auto part = [&](const char* name) { return matrix_of(json.at(name), name, tokens.size()); };
  const Matrix q = part("q"), k = part("k"), v = part("v");
  require(q.columns() == k.columns() && q.columns() == v.columns(), file, ": q, k and v are ",
          q.columns(), ", ", k.columns(), " and ", v.columns(), " wide, and must be alike");
  const Json *heads = json.find("heads"), *W_O = json.find("W_O");
  const auto width = static_cast<std::size_t>(q.columns());
  return {.name = "attention",
          .title = text("numbers of ", file),
          .tokens = tokens,
          .heads = heads != nullptr && heads->is_number() ? heads->integer() : 1,
          .q = q,
          .k = k,
          .v = v,
          .from_input = false,
          .W_O = W_O == nullptr ? identity(q.columns()) : matrix_of(*W_O, "W_O", width)};
}

/// Random numbers, NumPy's, of the sizes asked for.
LessonWorld random_numbers(const TopicFlags& flags) {
  RandomWorld world{"attention", {}, flags.d_model == 0 ? 4 : flags.d_model, {}, 0};
  for (Index t = 0; t < (flags.length == 0 ? 5 : flags.length); ++t)
    world.tokens.push_back(text("t", t));
  if (std::ssize(world.tokens) > kMostTokens || world.d_model > kMostWidth)
    throw UsageError(text("random numbers are shown for at most ", kMostTokens, " tokens of width ",
                          kMostWidth),
                     "name a smaller --length or --d-model");
  const auto seed = static_cast<std::uint32_t>(flags.seed);
  const HeadSteps whole = random_heads(world, 1, seed, true).front();
  NumPyRandom random(seed + 1);
  Matrix W_O(world.d_model, world.d_model);
  for (Index i = 0; i < W_O.rows(); ++i)
    for (Index j = 0; j < W_O.columns(); ++j)
      W_O(i, j) = random.normal() / std::sqrt(static_cast<double>(world.d_model));
  return {.name = world.name,
          .title = text("random numbers, seed ", flags.seed),
          .tokens = world.tokens,
          .heads = 2,
          .q = whole.q,
          .k = whole.k,
          .v = whole.v,
          .from_input = false,
          .W_O = std::move(W_O)};
}

Result explain_attention(const Invocation& call, const TopicFlags& flags) {
  if (call.positionals().size() > 1) return attention_of_run(call, flags);
  call.refuse({"head", "example"}, "is of a run", "headlab explain attention RUN");
  if (!flags.file.empty()) {
    call.refuse({"d_model", "length", "seed"}, "is of random numbers", "leave it out, or --file");
    const LessonWorld world = world_in_file(flags.file);
    require(world.heads > 0, flags.file, ": there must be a head, not ", world.heads);
    return show_world(call, flags, world);
  }
  return show_world(call, flags, random_numbers(flags));
}

Result explain_counts(const Invocation& call, const TopicFlags&) {
  const LessonWorld& world = lesson_world(kFiveTokens);
  const RandomWorld& random = random_world("diversity");
  std::vector<std::vector<HeadSteps>> five, drawn;
  for (const Index H : {1, 2, 4}) five.push_back(attend_in_heads(world.q, world.k, world.v, H));
  for (const Index H : random.heads) drawn.push_back(random_heads(random, H, random.seed));
  const auto json = [](const std::vector<std::vector<HeadSteps>>& all) {
    Json rows = Json::array();
    for (const std::vector<HeadSteps>& heads : all) {
      Json entropies = Json::array();
      for (const HeadSteps& head : heads) entropies.push_back(entropy_of(head));
      rows.push_back(Json::object({{"heads", heads.size()},
                                   {"d_head", heads[0].q.columns()},
                                   {"entropy", std::move(entropies)},
                                   {"diversity", diversity_of(heads)}}));
    }
    return rows;
  };
  return reproducible(
      call, stamped({{"topic", "how-many"}, {"five_tokens", json(five)}, {"random", json(drawn)}}),
      text(
          "five tokens of width 4\n\n", head_counts_text(five),
          "\nheads of width 1 compare two numbers: a query of 0 asks nothing, and all others above "
          "0 rank\nthe keys alike. 8 heads would have floor(4 / 8) = 0 columns each.\n\n",
          "random weights, 8 tokens of width 64, as an article on attention draws them\n\n",
          head_counts_text(drawn),
          "\non trained models: headlab sweep --task relations --heads 1,2,3,4,5,8 --seeds 5 --out "
          "sweeps/knee\n"));
}

Result explain_entropy(const Invocation& call, const TopicFlags&) {
  const RandomWorld& world = random_world("entropy");
  const std::vector<HeadSteps> heads = random_heads(world, world.heads[0], world.seed);
  Json rows = Json::array();
  for (const HeadSteps& head : heads)
    rows.push_back(Json::object({{"entropy", entropy_of(head)}, {"focus", focus_of(head)}}));
  return reproducible(call,
                      stamped({{"topic", "entropy"},
                               {"tokens", world.tokens},
                               {"seed", world.seed},
                               {"heads", std::move(rows)}}),
                      text("random weights, width ", world.d_model, ", ", join(world.tokens, " "),
                           " (np.random.seed(", world.seed, "))\n\n", entropies_text(heads)));
}

Result explain_diversity(const Invocation& call, const TopicFlags& flags) {
  if (call.positionals().size() > 1) return diversity_of_run(call);
  const RandomWorld& world = random_world("diversity");
  Texts table({"heads", "as printed", "fresh weights"});
  Json rows = Json::array();
  for (const Index H : world.heads) {
    const double printed = diversity_of(random_heads(world, H, world.seed));
    std::vector<double> fresh;
    for (Index seed = 0; seed < flags.seeds; ++seed)
      fresh.push_back(diversity_of(random_heads(world, H, static_cast<std::uint32_t>(seed), true)));
    const Interval mean = t_interval(fresh);
    rows.push_back(Json::object({{"heads", H}, {"printed", printed}, {"fresh", mean}}));
    table.add({std::to_string(H), fixed(printed, 4), interval_text(mean)});
  }
  return reproducible(
      call, stamped({{"topic", "diversity"}, {"seeds", flags.seeds}, {"counts", std::move(rows)}}),
      text(
          "mean pairwise Jensen-Shannon distance of heads with random weights, 8 tokens of width "
          "64\n\n",
          table.to_string(), "\nas printed: input and weights from seed ", world.seed,
          "; fresh weights: mean over ", flags.seeds,
          " seeds\nwith its 95% interval. Of the heads of a run: headlab explain diversity RUN\n"));
}

Result explain_patterns(const Invocation& call, const TopicFlags&) {
  const std::vector<std::string> tokens = {"a", "b", "c", "a", "b", "c"};
  Json list = Json::array();
  for (const KnownPattern& known : known_patterns()) {
    const std::vector<std::int32_t> ids = {0, 1, 2, 0, 1, 2};
    list.push_back(Json::object({{"name", known.name},
                                 {"meaning", known.meaning},
                                 {"weights", known_pattern(known.name, {ids, ids})}}));
  }
  return reproducible(call,
                      stamped({{"topic", "patterns"}, {"tokens", tokens}, {"patterns", list}}),
                      known_patterns_text(tokens, stdout_shades()) +
                          "\nwhich heads of a run are like them: headlab heads RUN --like "
                          "previous\n");
}

Result explain_exercises(const Invocation& call, const TopicFlags&) {
  const LessonWorld& world = lesson_world(kFiveTokens);
  const auto in = [&](Index H) { return attend_in_heads(world.q, world.k, world.v, H); };
  const ShownHeads two = shown_heads(world.tokens, in(2)), four = shown_heads(world.tokens, in(4));
  const auto first = [&](const Matrix& m) { return columns_of(m, 0, 2); };
  const HeadSteps a = attend(first(world.q), first(world.k), first(world.v)),
                  b = attend(first(world.q), first(world.k), columns_of(world.v, 2, 4));
  const bool same = a.weights.values() == b.weights.values();
  Json silent = Json::array();
  for (std::size_t h = 0; h < 2; ++h)
    silent.push_back(change_when_silent(two.heads, h, identity(4)));
  return reproducible(
      call,
      stamped({{"topic", "exercises"},
               {"sat", Json::object({{"weights", row_of(two.heads[0].weights, 2)[2]},
                                     {"output", concatenated(two.heads)}})},
               {"same_subspace", same},
               {"change_when_silent", std::move(silent)}}),
      text("1. \"sat\" by hand\n\n", query_text(two, 2), "\n2. four heads of width 1\n\n",
           uniform_text(four), "3. two heads that read the same columns\n\n",
           same ? "their patterns are equal to the last bit, whatever their values: one question "
                  "asked twice.\n\n"
                : "their patterns differ.\n\n",
           "4. and 5. W_O, and silencing a head\n\n", mixing_text(two, world.W_O)));
}

Result explain_corrections(const Invocation& call, const TopicFlags&) {
  Json list = Json::array();
  for (const Correction& correction : corrections()) list.push_back(to_json(correction));
  return reproducible(call, stamped({{"topic", "mistakes"}, {"corrections", std::move(list)}}), "");
}

constexpr Topic kTopics[] = {
    {"five-tokens",
     "\"The cat sat on mat\": q, k, v, scores, weights, outputs, W_O, silenced heads", "",
     " heads query ", show_named<kFiveTokens>},
    {"cat-sleeps", "the same for \"Cat sleeps\", where one head is worth two", "", " heads query ",
     show_named<kCatSleeps>},
    {"attention", "one query of a run's head; without RUN random numbers, or yours from --file",
     "[RUN]", " heads query head example file d_model length seed ", explain_attention},
    {"shapes", "the shape of everything on the way, for a run or for sizes", "[RUN]",
     " heads d_model length batch ", explain_shapes},
    {"W_O", "what each head of a run writes, and how far W_O mixes them", "RUN", " example ",
     explain_output},
    {"how-many", "1, 2, 4 and 8 heads: width, entropy, diversity", "", " ", explain_counts},
    {"entropy", "how focused heads of random weights are", "", " ", explain_entropy},
    {"diversity", "how much heads differ, by their number; or the heads of a run", "[RUN]",
     " seeds ", explain_diversity},
    {"patterns", "the patterns that heads are known for", "", " ", explain_patterns},
    {"exercises", "five exercises on the five tokens, solved by computation", "", " ",
     explain_exercises},
    {"mistakes", "what articles on attention get wrong", "", " ", explain_corrections},
};

void check_call(const Topic& topic, const Invocation& call, const TopicFlags& flags) {
  const bool has_run = call.positionals().size() > 1;
  const std::string takes = topic.takes;
  if (takes == "RUN" && !has_run)
    throw UsageError(text("explain ", topic.name, " needs a run"),
                     text("for example: headlab explain ", topic.name, " runs/full"));
  if (call.positionals().size() > (takes.empty() ? 1u : 2u))
    throw UsageError(text("unexpected argument '", call.positionals().back(), "'"),
                     text("for example: headlab explain ", topic.name));
  std::vector<std::string> others = TopicFlags(flags).settings().names();
  std::erase_if(others, [known = std::string(topic.flags)](const std::string& name) {
    return known.find(" " + name + " ") != std::string::npos;
  });
  call.refuse(others, text("says nothing to ", topic.name), "`headlab explain` lists the topics");
}

}  // namespace

Settings TopicFlags::settings() {
  Settings s;
  s.integer("heads", heads, 0, 1024, "into how many heads; 0: as the topic has it");
  s.string("query", query, "show one query, by its token or its number, in every step", "TOKEN|N");
  s.string("head", head, "a head of the run", "LAYER.HEAD");
  s.integer("example", example, 0, 65535, "the held-out example of the run");
  s.string("file", file,
           "numbers of your own: {\"tokens\", \"heads\", \"q\", \"k\", \"v\"} as rows", "FILE");
  s.integer("d_model", d_model, 0, 1 << 20, "width, where there is no run; 0: as the topic has it");
  s.integer("length", length, 0, 1 << 20, "tokens, where there is no run; 0: as the topic has it");
  s.integer("batch", batch, 1, 1 << 20, "sequences, for shapes");
  s.integer("seed", seed, 0, 0xFFFFFFFF, "of random numbers");
  s.integer("seeds", seeds, 2, 1000, "over which diversity is averaged");
  return s;
}

std::span<const Topic> topics() { return kTopics; }

Result explain_topic(const Topic& topic, const Invocation& call, const TopicFlags& flags) {
  check_call(topic, call, flags);
  Result result = topic.explain(call, flags);
  const bool all = topic.explain == explain_corrections;
  const bool of_run = call.positionals().size() > 1;
  if (flags.query.empty() && !of_run) {
    const std::string wrong = corrections_text(all ? "" : topic.name);
    const std::size_t last = result.text.rfind("again: ");
    if (!wrong.empty())
      result.text.insert(last == std::string::npos ? result.text.size() : last,
                         (all ? "" : "\n") + wrong + "\n");
  }
  return result;
}

}  // namespace headlab::cli
