// `headlab explain`: attention step by step, on the worked examples, on the user's own sentence or
// on a run; or the meaning of any term in the program's tables and lists: a column, a score of
// heads, a pruning method, a task, a term of the glossary, a flag. Terms come from the tables
// themselves, so new rows are explained automatically. Without arguments it lists the lessons. Read
// next: heads/lessons.h.
#include <algorithm>
#include <optional>
#include <set>

#include "cli/commands.h"
#include "cli/terms.h"
#include "headlab/report/finding_text.h"
#include "report/findings.h"

namespace headlab::cli {
namespace {

struct LessonFlags {
  Index heads = 0, example = 0;
  std::string query, head, file;

  bool operator==(const LessonFlags&) const = default;

  Flags settings() {
    Flags s;
    s.integer("heads", heads, 0, 1024, "number of heads (0: that of the lesson)");
    s.string("query", query, "show every step of one query", "N|TOKEN");
    s.string("head", head, "head of the run", "LAYER.HEAD");
    s.integer("example", example, 0, 65535, "held-out example of the run");
    s.string("file", file, "your own numbers: {\"tokens\", \"heads\", \"q\", \"k\", \"v\"}",
             "FILE");
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
  throw UsageError(text("--query ", name, ": there is no such query"),
                   text("a number from 0 to ", tokens.size() - 1, ", or one of ",
                        join(tokens, " ")));
}

// ---- on numbers: the worked examples, and those of a file

Json world_json(const LessonWorld& world, const ShownHeads& shown) {
  Json silent = Json::array();
  for (std::size_t h = 0; h < shown.heads.size(); ++h) {
    silent.push_back(change_when_silent(shown.heads, h, world.W_O));
  }
  const Matrix z = concatenated(shown.heads);
  return stamped({{"topic", world.name},
                  {"tokens", world.tokens},
                  {"query", Json()},
                  {"heads", shown.heads},
                  {"average", average_weights(shown.heads)},
                  {"concatenated", z},
                  {"W_O", world.W_O},
                  {"output", z * world.W_O},
                  {"change_when_silent", std::move(silent)},
                  {"diversity", diversity_of(shown.heads)}});
}

/// Returns the tables of all queries, or of one.
Result show_world(const Invocation& call, const LessonFlags& flags, const LessonWorld& world) {
  const Index H = flags.heads == 0 ? world.heads : flags.heads, width = world.q.columns();
  if (width % H != 0) {
    throw UsageError(text("--heads ", H, ": width ", width, " does not divide into ", H, " heads"),
                     text("take a divisor of ", width, ". A sweep would make each head floor(",
                          width, " / ", H, ") = ", width / H,
                          " wide; PyTorch refuses, as this does"));
  }
  const ShownHeads shown = shown_heads(world.tokens, attend_in_heads(world.q, world.k, world.v, H));
  const std::string about = text(world.title, ": width ", width, " in ", H,
                                 H == 1 ? " head" : " heads", " of width ", width / H, "\n\n");
  Json json = world_json(world, shown);
  if (flags.query.empty()) {
    return reproducible(call, std::move(json), world_tables(shown, world.W_O),
                        text("\none query, product by product: add --query ", world.tokens.back(),
                             "\n"),
                        about);
  }
  const Index query = query_of(flags.query, world.tokens);
  json["query"] = query;
  return reproducible(call, std::move(json), query_tables(shown, query), "\n", about);
}

Result show_lesson(const Invocation& call, const LessonFlags& flags) {
  return show_world(call, flags, lesson_world(call.positionals()[0]));
}

// ---- on a run -----------------------------------------------------------------------------------

/// Returns example N of those that `heads` scores.
Batch example_of(const Task& task, Index example) {
  if (at_most_different(task, example + 1) <= example) {
    throw UsageError(text("there is no example ", example, ": ", task.different(Split::validation),
                          " different ones are held out"),
                     "--example counts from 0");
  }
  return task.make(streams::scored(), example + 1, Split::validation)
      .batch.rows(example, example + 1);
}

/// Returns a head's steps on the example, with the tokens that it reads.
ShownHeads steps_in_run(const Run& run, const Activations& activations, const Batch& batch,
                        const HeadId& head) {
  const AttentionModule module = run.model.attention_modules()[head.module];
  const auto shown = [&](std::span<const std::int32_t> tokens) {
    return texts_of(tokens, [&](std::int32_t token) { return run.task->token_text(token); });
  };
  return {.queries = shown(query_tokens(batch, module.kind, 0)),
          .keys = shown(key_tokens(batch, module.kind, 0)),
          .names = {text(module.name, ", head ", head_text(head))},
          .heads = {steps_of(run.model, activations, batch, head)}};
}

Result show_run(const Invocation& call, const LessonFlags& flags) {
  const Run run = open_run(call.positionals()[1]);
  const Batch batch = example_of(*run.task, flags.example);
  const std::vector<HeadId> all = all_heads(run.model);
  require(!all.empty(), "the model has no head");
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

Result explain_mistakes(const Invocation& call, const LessonFlags&) {
  Table table = corrections_table();
  table.shown = false;
  std::string said = "what articles say, and what is so:\n";
  for (const Json::Array& row : table.rows) {
    said += "\n" + beside("said:", 8, row[1].string()) +
            beside("is so:", 8, text(row[2].string(), " (", row[3].string(), ")"));
  }
  return reproducible(call, Finding{.about = stamped({{"topic", "mistakes"}}), .tables = {table}},
                      said);
}

Result attention_lesson(const Invocation& call, const LessonFlags& flags) {
  if (call.positionals().size() > 1) return show_run(call, flags);
  if (flags.file.empty()) {
    throw UsageError("cannot use flags of explain attention: a run is missing, or a file",
                     "for example: headlab explain attention runs/full");
  }
  return show_world(call, flags,
                    world_of(Json::parse(read_file(flags.file), flags.file), flags.file));
}

struct Lesson {
  const char* name;
  const char* summary;
  const char* takes;  // "" or "RUN"
  Result (*explain)(const Invocation& call, const LessonFlags& flags);
};

constexpr Lesson kLessons[] = {
    {"five-tokens",
     "\"The cat sat on mat\": q, k, v, scores, weights, outputs, W_O, silenced heads", "",
     show_lesson},
    {"cat-sleeps", "the same for \"Cat sleeps\", where one head is worth two", "", show_lesson},
    {"attention", "one query of a run's head; or numbers of your own, from --file", "RUN",
     attention_lesson},
    {"mistakes", "what articles on attention get wrong", "", explain_mistakes},
};

// ---- words --------------------------------------------------------------------------------------

struct Meaning {
  std::string word, kind, text;
  std::string see{};  // a command
};

/// Adds the definitions of words, which come first: those of the dictionary, then those of the
/// lessons that it does not have.
void add_terms(std::vector<Meaning>& all) {
  const auto add = [&](std::string_view words, const std::string& meaning, const char* see) {
    for (const std::string_view word : split(words, ',')) {
      std::string name(word.substr(word.find_first_not_of(' ')));
      if (std::ranges::find(all, name, &Meaning::word) == all.end()) {
        all.push_back({std::move(name), "a term", meaning, see});
      }
    }
  };
  for (const Term& term : dictionary()) add(term.words, term.definition, term.see);
  for (const auto& [words, meaning] : glossary()) add(words, meaning, "");
}

/// Adds each flag once for all commands in which it has the same meaning.
void add_flags(std::vector<Meaning>& all) {
  const std::string kind = "a flag of ";
  for (const Command& command : commands()) {
    for (const Setting& flag : help_of(command).flags) {
      const auto same = std::ranges::find_if(all, [&](const Meaning& one) {
        return one.word == flag.name && one.text == flag.help && one.kind.starts_with(kind);
      });
      if (same == all.end()) {
        all.push_back({flag.name, kind + command.name, flag.help});
      } else {
        same->kind += text(", ", command.name);
      }
    }
  }
}

void add_columns(std::vector<Meaning>& all) {
  std::set<std::string> titles;
  const std::vector<ListedColumn> columns = all_columns();
  for (const auto& [column, results] : columns) {
    all.push_back({column.title, "a column of " + join(results, ", "), column.meaning});
    titles.insert(column.title);
  }
  for (const auto& [column, results] : columns) {  // which may have another name in CSV
    const std::string name = csv_names(column)[0];
    if (titles.contains(name)) continue;
    all.push_back(
        {name, text("a column of CSV of ", join(results, ", "), ", in text '", column.title, "'"),
         column.meaning});
  }
}

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  add_terms(all);
  add_columns(all);
  for (const ScoreEntry& score : score_table()) {
    all.push_back({score.name, "a score of heads", score.meaning});
  }
  const auto add = [&](const auto& rows, const char* kind) {
    for (const auto& row : rows) all.push_back({row.name, kind, row.summary});
  };
  for (const VerdictWord& verdict : verdict_words()) {
    for (const std::string_view word : split(verdict.words, ',')) {
      all.push_back({std::string(word), "a word of verdicts", verdict.explanation()});
    }
  }
  add(prune_table(), "a pruning method");
  add(task_table(), "a task");
  add(kNorms, "a kind of norm");
  add(kActivations, "a kind of feed-forward network");
  add(kPositions, "how a model knows positions");
  add(attention_functions(), "an attention function");
  add(block_wirings(), "how a block joins norms and sublayers");
  add(optimizer_table(), "an optimizer");
  for (const BlockKind& block : kBlocks) {
    all.push_back({block.name, "a block", text(block.summary, "; ", block.settings)});
  }
  add_flags(all);
  return all;
}

/// Returns a word in small letters with hyphens and spaces as underscores, in which "Layer norm"
/// and "layer-norm", or the flag --d-model and the column d_model, are the same.
std::string plain(std::string word) {
  for (char& letter : word) {
    if (letter == '-' || letter == ' ') {
      letter = '_';
    } else if (letter >= 'A' && letter <= 'Z') {
      letter = static_cast<char>(letter - 'A' + 'a');
    }
  }
  return word;
}

/// Returns the word of the meanings that was typed: exactly this one, or one that is the same but
/// for capitals, hyphens and the plural. Nothing if there is none.
std::optional<std::string> known_word(const std::vector<Meaning>& all, const std::string& typed) {
  if (std::ranges::find(all, typed, &Meaning::word) != all.end()) return typed;
  const std::string singular = typed.ends_with('s') ? typed.substr(0, typed.size() - 1) : typed;
  for (const std::string& word : {typed, singular}) {
    const auto found = std::ranges::find_if(all, [&](const Meaning& one) {
      return plain(one.word) == plain(word);
    });
    if (found != all.end()) return found->word;
  }
  return {};
}

bool is_known(const std::vector<Meaning>& all, const std::string& word) {
  return known_word(all, word).has_value();
}

using Words = std::vector<std::string>;

/// Returns the words of a command line as terms. If several words make one term, such as "attention
/// head", the longest term is taken. Error for a word that belongs to none.
Words terms_of(const std::vector<Meaning>& all, const Words& words) {
  Words terms;
  for (std::size_t first = 0; first < words.size();) {
    std::size_t count = words.size() - first;
    const auto term = [&] {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
      return join(Words(begin, begin + static_cast<std::ptrdiff_t>(count)), " ");
    };
    while (count > 1 && !is_known(all, term())) --count;
    const bool is_lesson = std::ranges::find(kLessons, term(), &Lesson::name) != std::end(kLessons);
    if (is_lesson && !is_known(all, term())) {
      throw UsageError(text("cannot explain ", term(), " together with words: it is a lesson"),
                       text("headlab explain ", term()));
    }
    if (!is_known(all, term())) {
      std::vector<std::string> known = texts_of(all, &Meaning::word);
      for (const Lesson& lesson : kLessons) known.emplace_back(lesson.name);
      throw UsageError(  // there are hundreds of words: too many for a hint
          unknown_name("word", term(), known).what(),
          "headlab explain lists the lessons, headlab list columns and scores the words");
    }
    terms.push_back(term());
    first += count;
  }
  return terms;
}

Result explain_words(const std::vector<std::string>& words) {
  const std::vector<Meaning> all = meanings();
  std::string shown;
  Json explained = Json::array();
  for (const std::string& term : terms_of(all, words)) {
    const std::string word = *known_word(all, term);
    Json found = Json::array();
    for (const auto& [name, kind, meaning, see] : all) {
      if (name != word) continue;
      const bool is_term = kind == "a term";
      shown += wrapped(text(name, is_term ? "" : ", " + kind, ": ", meaning), "  ", 80);
      if (!see.empty()) shown += text("  see: headlab ", see, "\n");
      Json entry = Json::object({{"kind", kind}, {"meaning", meaning}});
      if (!see.empty()) entry["see"] = "headlab " + see;
      found.push_back(std::move(entry));
    }
    explained.push_back(Json::object({{"word", word}, {"meanings", std::move(found)}}));
  }
  if (explained.items().size() > 1) {
    return {.json = stamped({{"words", std::move(explained)}}), .text = shown};
  }
  const Json& only = explained.items()[0];
  return {.json = stamped({{"word", only.at("word")}, {"meanings", only.at("meanings")}}),
          .text = shown};
}

Result list_lessons() {
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

Result explain(Invocation& call) {
  LessonFlags flags;
  call.read(flags.settings());
  if (call.positionals().empty()) return list_lessons();
  const auto lesson = std::ranges::find(kLessons, call.positionals()[0], &Lesson::name);
  const std::string typed = join(call.positionals(), " ");
  const bool is_word = lesson != std::end(kLessons) && lesson->explain == attention_lesson &&
                       flags == LessonFlags{} && is_known(meanings(), typed);
  if (lesson == std::end(kLessons) || is_word) {
    Words words;
    for (const std::string_view word : split(typed, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    return explain_words(words);
  }
  if (call.positionals().size() > (*lesson->takes == 0 ? 1u : 2u)) {
    throw UsageError(text("unexpected argument '", call.positionals().back(), "'"),
                     text("for example: headlab explain ", lesson->name));
  }
  return lesson->explain(call, flags);
}

}  // namespace headlab::cli
