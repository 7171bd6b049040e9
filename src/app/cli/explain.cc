// `headlab explain`: attention step by step, on the worked examples, on the user's own sentence or
// on a run; or the meaning of words (words.h). Without arguments it lists the lessons. Read next:
// lab/heads/lessons/lessons.h.
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/completion.h"
#include "app/cli/words.h"
#include "app/report/results.h"
#include "headlab/app/report/result_text.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/data/file_kind.h"

namespace headlab::cli {
namespace {

struct LessonFlags {
  Index heads = 0, example = 0;
  std::string query, head, file;

  bool operator==(const LessonFlags&) const = default;

  Flags settings() {
    Flags s;
    s.integer("heads", heads, 0, 1024, "number of heads (0: that of the example)");
    s.string("query", query, "show every step of one query", "N|TOKEN");
    s.naming(ValueKind::heads, "head", head, "head of the run");
    s.integer("example", example, 0, 65535, "held-out example of the run");
    s.naming(ValueKind::file, "file", file,
             "your own numbers: {\"tokens\", \"heads\", \"q\", \"k\", \"v\"}");
    const Condition attention = first_argument("attention");
    s.needs({"heads", "query"},
            {first_argument("five-tokens"), first_argument("cat-sleeps"), attention});
    s.needs({"head", "example", "file"}, {attention});
    s.excludes({"head", "example"}, {flag_given("file")});
    s.excludes({"heads", "file"}, {several_arguments()});
    return s;
  }
};

/// Returns the query of this index, counted from 0, or the first with this token.
Index query_of(const std::string& name, const std::vector<std::string>& tokens) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (name == std::to_string(t)) return static_cast<Index>(t);
  }
  const auto token = std::ranges::find(tokens, name);
  if (token != tokens.end()) return token - tokens.begin();
  throw UsageError(text("cannot show --query ", name, ": there is no such query"),
                   text("name a number from 0 to ", tokens.size() - 1, ", or one of ",
                        join(tokens, " ")));
}

// ---- on numbers: the worked examples, and those of a file

Json worked_example_json(const WorkedExample& worked, const ShownHeads& shown) {
  Json ablated = Json::array();
  for (std::size_t h = 0; h < shown.heads.size(); ++h) {
    ablated.push_back(change_when_ablated(shown.heads, h, worked.W_O));
  }
  const Matrix z = concatenated(shown.heads);
  return stamped({{"topic", worked.name},
                  {"tokens", worked.tokens},
                  {"query", Json()},
                  {"heads", shown.heads},
                  {"average", average_weights(shown.heads)},
                  {"concatenated", z},
                  {"W_O", worked.W_O},
                  {"output", z * worked.W_O},
                  {"change_when_silent", std::move(ablated)},
                  {"diversity", diversity_of(shown.heads)}});
}

/// Returns the tables of all queries, or of one.
Output show_worked_example(const Invocation& call, const LessonFlags& flags,
                           const WorkedExample& worked) {
  const Index H = flags.heads == 0 ? worked.heads : flags.heads, width = worked.q.columns();
  if (width % H != 0) {
    throw UsageError(text("cannot use --heads ", H, ": width ", width, " does not divide into ", H,
                          " heads"),
                     text("take a divisor of ", width, ". A sweep would make each head floor(",
                          width, " / ", H, ") = ", width / H, " wide; PyTorch refuses that too"));
  }
  const ShownHeads shown =
      shown_heads(worked.tokens, attend_in_heads(worked.q, worked.k, worked.v, H));
  const std::string about = text(worked.title, ": width ", width, " in ", H,
                                 H == 1 ? " head" : " heads", " of width ", width / H, "\n\n");
  Json json = worked_example_json(worked, shown);
  if (flags.query.empty()) {
    return reproducible(call, std::move(json), worked_example_tables(shown, worked.W_O),
                        text("\none query, product by product: add --query ", worked.tokens.back(),
                             "\n"),
                        about);
  }
  const Index query = query_of(flags.query, worked.tokens);
  json["query"] = query;
  return reproducible(call, std::move(json), query_tables(shown, query), "\n", about);
}

Output show_lesson(const Invocation& call, const LessonFlags& flags) {
  return show_worked_example(call, flags, worked_example(call.positionals()[0]));
}

// ---- on a run -----------------------------------------------------------------------------------

/// Returns example N of those that `heads` scores.
Batch example_of(const Task& task, Index example) {
  if (at_most_different(task, example + 1) <= example) {
    throw UsageError(text("cannot show --example ", example, ": ",
                          task.different(Split::validation), " different ones are held out"),
                     "name an example from 0 on");
  }
  return task.make(streams::scored(), example + 1, Split::validation)
      .batch.rows(example, example + 1);
}

/// Returns a head's steps on the example, with the tokens that it reads.
ShownHeads steps_in_run(const Run& run, const Activations& activations, const Batch& batch,
                        const HeadId& head) {
  const AttentionLayer attention_layer = run.model.attention_layers()[head.attention_layer];
  const auto shown = [&](std::span<const std::int32_t> tokens) {
    return texts_of(tokens, [&](std::int32_t token) { return run.task->token_text(token); });
  };
  return {.queries = shown(query_tokens(batch, attention_layer.kind, 0)),
          .keys = shown(key_tokens(batch, attention_layer.kind, 0)),
          .names = {text(attention_layer.name, ", head ", head_text(head))},
          .heads = {steps_of(run.model, activations, batch, head)}};
}

Output show_run(const Invocation& call, const LessonFlags& flags) {
  const Run run = open_run(call.positionals()[1]);
  const Batch batch = example_of(*run.task, flags.example);
  const std::vector<HeadId> all = all_heads(run.model);
  require(!all.empty(), "cannot explain the attention: the model has no head");
  const HeadId head = flags.head.empty() ? all[0] : parse_head("--head", flags.head, &run.model);
  const Activations activations(run.model, batch);
  const ShownHeads shown = steps_in_run(run, activations, batch, head);
  const Index query =
      flags.query.empty() ? std::ssize(shown.queries) - 1 : query_of(flags.query, shown.queries);
  const HeadSteps& steps = shown.heads[0];
  const double apart = largest_difference(steps, activations, head);
  const auto shape = [](const char* name, const Matrix& m) {
    return text(name, " [", m.rows(), ", ", m.columns(), "]");
  };
  const Json json = stamped({{"topic", "attention"},
                             {"head", head},
                             {"example", flags.example},
                             {"query", query},
                             {"tokens", shown.queries},
                             {"keys", shown.keys},
                             {"steps", steps},
                             {"largest_difference", apart}});
  return reproducible(
      call, json, query_tables(shown, query),
      text("\ncomputed in double; the model's own weights in float differ by at most ",
           significant(apart), "\n"),
      text("held-out example ", flags.example, ": ", shape("q", steps.q), shape(", k", steps.k),
           shape(", v", steps.v), shape(", weights", steps.weights), "\n\n"));
}

Output explain_mistakes(const Invocation& call, const LessonFlags&) {
  Table table = corrections_table();
  table.shown = false;
  std::string said = "common mistakes, and what is true:\n";
  const std::vector<Json> claims = table.cells("claim");
  const std::vector<Json> facts = table.cells("fact");
  const std::vector<Json> sources = table.cells("source");
  for (const std::size_t i : indices(table.rows.size())) {
    said += "\n" + beside("said:", 8, claims[i].string()) +
            beside("true:", 8, text(facts[i].string(), " (", sources[i].string(), ")"));
  }
  return reproducible(call, Result{.about = stamped({{"topic", "mistakes"}}), .tables = {table}},
                      said);
}

Output attention_lesson(const Invocation& call, const LessonFlags& flags) {
  if (call.positionals().size() > 1) return show_run(call, flags);
  if (flags.file.empty()) {
    throw UsageError("cannot use flags of explain attention: a run is missing, or a file",
                     "headlab explain attention runs/full");
  }
  return show_worked_example(call, flags,
                             worked_example_of(parse_data(read_file(flags.file), flags.file),
                                               flags.file));
}

struct Lesson {
  const char* name;
  const char* summary;
  const char* takes;  // "" or "RUN"
  Output (*explain)(const Invocation& call, const LessonFlags& flags);
};

constexpr Lesson kLessons[] = {
    {"five-tokens", "\"The cat sat on mat\": q, k, v, scores, weights, outputs, W_O, ablated heads",
     "", show_lesson},
    {"cat-sleeps", "the same for \"Cat sleeps\", where one head beats two", "", show_lesson},
    {"attention", "one query of a run's head; or numbers of your own, from --file", "RUN",
     attention_lesson},
    {"mistakes", "common mistakes about attention in articles", "", explain_mistakes},
};

Output list_lessons() {
  std::string shown;
  Json entries = Json::array();
  for (const Lesson& lesson : kLessons) {
    shown += beside(text(lesson.name, " ", lesson.takes), 19, lesson.summary);
    entries.push_back(Json::object(
        {{"name", lesson.name}, {"summary", lesson.summary}, {"takes", lesson.takes}}));
  }
  return {.json = stamped({{"topics", std::move(entries)}}),
          .text = text(shown,
                       "\nfor example: headlab explain five-tokens --query sat\nor a word, "
                       "such as those of any table: headlab explain lift\n")};
}

}  // namespace

Words explain_topics() { return texts_of(kLessons, &Lesson::name); }

Output explain(Invocation& call) {
  LessonFlags flags;
  call.read(flags.settings());
  if (call.positionals().empty()) return list_lessons();
  const auto lesson = std::ranges::find(kLessons, call.positionals()[0], &Lesson::name);
  const std::string typed = join(call.positionals(), " ");
  const bool is_word = lesson != std::end(kLessons) && lesson->explain == attention_lesson &&
                       flags == LessonFlags{} && is_explained(typed);
  if (lesson == std::end(kLessons) || is_word) {
    Words words;
    for (const std::string_view word : split(typed, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    return explain_words(words, texts_of(kLessons, &Lesson::name));
  }
  if (call.positionals().size() > (*lesson->takes == 0 ? 1u : 2u)) {
    throw UsageError(text("unexpected argument '", call.positionals().back(), "'"),
                     text("headlab explain ", lesson->name));
  }
  return lesson->explain(call, flags);
}

}  // namespace headlab::cli
