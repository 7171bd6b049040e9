// The meanings of words: of the glossary, relations, commands, columns, scores, methods, tasks,
// model parts and flags. All but the glossary come from the tables themselves, so new rows are
// explained automatically. Definitions come before columns and flags of the same name. See words.h.
#include "app/cli/words.h"

#include <algorithm>
#include <optional>
#include <set>

#include "app/report/results.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

/// Kinds of words, of which a word is explained by one meaning with all its owners.
constexpr const char *kTerm = "a term", *kFlag = "a flag of", *kRelation = "a relation of the task";

struct Meaning {
  std::string word;
  std::string kind;  // kTerm, kFlag, "a column of" ...
  std::string text;
  std::string see{};                  // a command
  std::vector<std::string> owners{};  // commands, tasks or results that have it

  /// Returns "a flag of heads, ablate".
  std::string kind_with_owners() const {
    return owners.empty() ? kind : kind + " " + join(owners, ", ");
  }
};

/// Adds a word, or its owner to the same meaning of the word if that is there.
void add_with_owner(std::vector<Meaning>& all, Meaning added, const std::string& owner) {
  const auto same = std::ranges::find_if(all, [&](const Meaning& one) {
    return one.word == added.word && one.text == added.text && one.kind == added.kind;
  });
  Meaning& found = same == all.end() ? all.emplace_back(std::move(added)) : *same;
  found.owners.push_back(owner);
}

void add_terms(std::vector<Meaning>& all) {
  for (const GlossaryTerm& term : glossary()) {
    for (const std::string& name : term.names) {
      all.push_back({name, kTerm, term.meaning, term.see});
    }
  }
}

/// Adds each flag once for all commands in which it has the same meaning.
void add_flags(std::vector<Meaning>& all) {
  for (const Command& command : commands()) {
    for (const Setting& flag : help_of(command).flags) {
      add_with_owner(all, {flag.name, kFlag, flag.help}, command.name);
    }
  }
}

/// Adds the relations of all tasks. A task whose data are missing here is left out.
void add_relations(std::vector<Meaning>& all) {
  for (const TaskEntry& entry : task_table()) {
    std::vector<Relation> relations;
    try {
      relations = make_task(entry.name)->relations();
    } catch (const Error&) {
      continue;
    }
    for (const Relation& relation : relations) {
      const std::string see = text("show ", entry.name);
      add_with_owner(all, {relation.name, kRelation, relation.description, see}, entry.name);
    }
  }
}

void add_commands(std::vector<Meaning>& all) {
  for (const Command& command : commands()) {
    all.push_back({command.name, "a command", command.summary, text(command.name, " --help")});
  }
}

void add_columns(std::vector<Meaning>& all) {
  std::set<std::string> titles;
  const std::vector<ListedColumn> columns = all_columns();
  for (const auto& [column, results] : columns) {
    all.push_back({column.title, "a column of", column.meaning, "", results});
    titles.insert(column.title);
  }
  for (const auto& [column, results] : columns) {  // which may have another name in CSV
    const std::string name = csv_names(column)[0];
    if (titles.contains(name)) continue;
    all.push_back(
        {name, text("a column of ", join(results, ", "), "; CSV: ", name, ", text: ", column.title),
         column.meaning});
  }
}

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  add_terms(all);
  add_relations(all);
  add_commands(all);
  add_columns(all);
  for (const ScoreEntry& score : score_table()) {
    all.push_back({score.name, "a score of heads", score.meaning});
  }
  const auto add = [&](const auto& rows, const char* kind) {
    for (const auto& row : rows) all.push_back({row.name, kind, row.summary});
  };
  for (const ConclusionWord& conclusion : conclusion_words()) {
    for (const std::string_view word : split(conclusion.words, ',')) {
      all.push_back({std::string(word), "a conclusion", conclusion.explanation()});
    }
  }
  add(prune_table(), "a pruning method");
  add(task_table(), "a task");
  add(kNorms, "a kind of norm");
  add(kActivations, "a kind of feed-forward network");
  add(kPositions, "a kind of position encoding");
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

/// Returns the word of the meanings that was typed: exactly this one, or one that differs only in
/// capitals, hyphens and the plural. Nothing if there is none.
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

/// Returns the words of a command line as terms. If several words make one term, such as "attention
/// head", the longest term is taken. Error for a word that belongs to none, or that names a lesson.
Words terms_of(const std::vector<Meaning>& all, const Words& words, const Words& lessons) {
  Words terms;
  for (std::size_t first = 0; first < words.size();) {
    std::size_t count = words.size() - first;
    const auto term = [&] {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
      return join(Words(begin, begin + static_cast<std::ptrdiff_t>(count)), " ");
    };
    while (count > 1 && !is_known(all, term())) --count;
    const bool is_lesson = std::ranges::find(lessons, term()) != lessons.end();
    if (is_lesson && !is_known(all, term())) {
      throw UsageError(text("cannot explain ", term(),
                            " together with words: it is a topic of its own"),
                       text("headlab explain ", term()));
    }
    if (!is_known(all, term())) {
      std::vector<std::string> known = texts_of(all, &Meaning::word);
      known.insert(known.end(), lessons.begin(), lessons.end());
      throw UsageError(  // there are hundreds of words: too many for a hint
          unknown_name("word", term(), known).what(),
          "list topics with `headlab explain`, and words with `headlab list columns`");
    }
    terms.push_back(term());
    first += count;
  }
  return terms;
}

}  // namespace

bool is_explained(const std::string& word) { return is_known(meanings(), word); }

Output explain_words(const Words& words, const Words& lessons) {
  const std::vector<Meaning> all = meanings();
  std::string shown;
  Json explained = Json::array();
  for (const std::string& term : terms_of(all, words, lessons)) {
    const std::string word = *known_word(all, term);
    Json found = Json::array();
    for (const Meaning& one : all) {
      if (one.word != word) continue;
      const std::string kind = one.kind_with_owners();
      const std::string origin = one.kind == kTerm ? "" : text(" (", kind, ")");
      shown += wrapped(text(one.word, ": ", one.text, origin), "  ", text_width());
      if (!one.see.empty()) shown += text("  see: headlab ", one.see, "\n");
      Json entry = Json::object({{"kind", kind}, {"meaning", one.text}});
      if (!one.see.empty()) entry["see"] = "headlab " + one.see;
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

}  // namespace headlab::cli
