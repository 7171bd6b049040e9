// Any task as lines of JSON, from which the task `file` is the same task: tokens are written as
// they are shown, in a vocabulary that keeps their numbers.
// Read next: sequences.cc, the way back.
#include <set>

#include "headlab/lab/results/words.h"
#include "lab/data/sequences.h"

namespace headlab {
namespace {

Json keys_of(const GroundTruth& truth, Index b, Index length) {
  Json queries = Json::object();
  for (Index t = 0; t < length; ++t) {
    if (const auto keys = truth.keys(b, t); !keys.empty()) {
      queries[std::to_string(t)] = std::vector<std::int32_t>(keys.begin(), keys.end());
    }
  }
  return queries;
}

/// Returns the answers at a position, null where there is none: a list, or one alone.
Json answers_json(const Header& header, std::span<const std::int32_t> answers) {
  Json at = Json::array();
  for (const std::int32_t one : answers) {
    at.push_back(one < 0 ? Json() : Json(answers_of(header)[one]));
  }
  return answers.size() == 1 ? at.items()[0] : at;
}

}  // namespace

Header header_of(const Task& task) {
  const TaskShape shape = task.shape();
  require(shape.features == 0, "cannot write sequences: ", task.spec(),
          " gives vectors, and lines of a file hold tokens");
  const TaskEntry& entry = find_task(task.spec());
  Header header{.description = entry.advice ? "" : entry.summary,
                .architecture = shape.architecture,
                .relations = task.relations(),
                .targets = task.target_names(),
                .recommended = recommended_settings(task.spec()),
                .accuracy = entry.learned.accuracy,
                .needed_heads = task.needed_heads(),
                .length = shape.length,
                .source_length = shape.source_length};
  for (std::int32_t token = 0; token < shape.vocab; ++token) {
    header.vocabulary.push_back(task.token_text(token));
  }
  for (std::int32_t answer = 0; answer < shape.outputs(); ++answer) {
    header.answers.push_back(task.answer_text(answer));
  }
  if (header.answers == header.vocabulary) header.answers.clear();
  const std::set<std::string> different(header.vocabulary.begin(), header.vocabulary.end());
  if (std::ssize(different) == shape.vocab) return header;
  for (std::int32_t token = 0; token < shape.vocab; ++token) {  // two look alike: numbers do not
    header.vocabulary[token] = std::to_string(token);
  }
  return header;
}

std::string line_of(const Header& header, const Example& example, Index b,
                    const FilePrompts& prompts) {
  const Batch& batch = example.batch;
  const auto word = [&](std::int32_t token) { return Json(header.vocabulary[token]); };
  Json tokens = Json::array(), targets = Json::array(), truth = Json::object(), source = tokens;
  Json against = Json::array();
  const Index K = batch.targets_per_position;
  const auto answers_at = [&](std::span<const std::int32_t> answers, Index t) {
    return answers_json(header, answers.subspan((b * batch.length + t) * K, K));
  };
  for (Index t = 0; t < batch.length_of(b); ++t) {
    tokens.push_back(word(batch.token(b, t)));
    targets.push_back(answers_at(batch.targets, t));
    if (!prompts.against.empty()) against.push_back(answers_at(prompts.against, t));
  }
  for (Index t = 0; t < batch.source_length_of(b); ++t) {
    source.push_back(word(batch.source_token(b, t)));
  }
  Json json = Json::object({{"tokens", tokens}, {"targets", targets}});
  if (batch.source_length > 0) json["source"] = source;
  if (!prompts.against.empty()) json["against"] = against;
  if (!prompts.corrupted.empty() && !prompts.corrupted[b].empty()) {
    json["corrupted"] = mapped(prompts.corrupted[b], word);
  }
  const auto add = [&](const char* name, const std::vector<GroundTruth>& of) {
    for (std::size_t r = 0; r < of.size(); ++r) {
      const Relation& relation = header.relations[r];
      Json keys = keys_of(of[r], b, batch.queries_of(relation.kind, b));
      if (!keys.members().empty()) json[name][relation.name] = keys;
    }
  };
  add("truth", example.truth);
  add("candidates", example.candidates);
  return json.dump();
}

std::string lines_of(const Task& task, std::int64_t count, Key key) {
  const Header header = header_of(task);
  const Example example = task.make(key, count, Split::validation);
  std::string lines = Json::object({{"header", header}}).dump() + "\n";
  const FilePrompts prompts = prompts_in_file(task, Split::validation, count);
  for (Index b = 0; b < count; ++b) lines += line_of(header, example, b, prompts) + "\n";
  return lines;
}

std::string form_of_lines() {
  const std::vector<std::string> names = header_keys();
  return R"(each line is a sequence; a position with a question has a target, or an array:
  {"tokens": ["d", "=", "2", "d"], "targets": [null, null, null, "2"],
   "truth": {"definition": {"3": [2]}}}
`truth` holds by relation the keys that belong to a query, both as positions;
`candidates`, likewise, all among which one must choose; `source` is what an
encoder-decoder reads. A file NAME.npz (numpy.savez) holds whole numbers:
tokens [N, T], targets [N, T] or [N, T, K], -1 where nothing is asked, perhaps
lengths [N]; truth/NAME/keys, of which query t of sequence n has those from
truth/NAME/begin[n T + t] to truth/NAME/begin[n T + t + 1]; candidates/NAME/...
likewise; source [N, S] and source_lengths [N]; header=json.dumps({...}), of
whose vocabulary numbers are then the words.
A relation of the header is {"name": "r", "description": "...",
"positional": false, "kind": "self"}. Set "positional": true if the position of
the query decides the keys, as in "the token before", and not the tokens: heads
are then compared with uniform attention. `kind` names the attention that is
scored: self, encoder or cross.
Targets are tokens, unless the header lists answers of its own: with
"answers": ["no", "yes"] each target is one of these words, and a model has an
output for each.
)" + wrapped("a first line {\"header\": {...}} may set " + join(names, ", "), "", 80);
}

}  // namespace headlab
