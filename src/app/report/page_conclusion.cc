// Conclusions on a run as sentences: its quality, the roles of its heads, and how many heads are
// enough. Every claim comes from a file of the run and is a separate piece of text, so that a page
// can link it to the view that shows it. A page without its scripts, as in the preview of a mail,
// shows these sentences, maps of heads and the table of scores. Read next: page.cc.
#include <algorithm>
#include <set>

#include "app/report/page_parts.h"
#include "app/report/task_words.h"
#include "headlab/app/report/heatmap.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

/// Why no head can be tested on a relation.
enum class Untested { no, same_keys, too_few_examples };

/// Returns the reason for a relation of heads.json.
Untested why_untested(const Json& relation) {
  const Json* untested = relation.find("untested");
  if (untested != nullptr && untested->boolean()) return Untested::same_keys;
  const Json* best = relation.find("best");
  const Json* examples = best != nullptr && best->is_object() ? best->find("examples") : nullptr;
  const bool is_few = examples != nullptr && examples->integer() < kFewestExamples;
  return is_few ? Untested::too_few_examples : Untested::no;
}

const char* words_of(Untested why) {
  return why == Untested::same_keys ? "every sequence has the same keys"
                                    : "too few examples ask for the keys";
}

class Conclusion {
 public:
  explicit Conclusion(const Json& run) : run_(run) {}

  Json take() {
    say_what_it_is();
    if (run_.at("reports").find("heads") == nullptr) {
      say_unmeasured("Which head does what is not scored yet", "heads");
    }
    from("heads", [&](const Json& heads) {
      say_owners(heads);
      say_not_tested(heads, Untested::same_keys);
      say_not_tested(heads, Untested::too_few_examples);
    });
    from("curve", [&](const Json& curve) { say_what_can_go(curve); });
    if (is_model() && run_.at("reports").find("curve") == nullptr) {
      say_unmeasured("How many heads are enough is not measured yet", "curve");
    }
    from("prune", [&](const Json& prune) { say_what_went(prune); });
    return std::move(pieces_);
  }

 private:
  void say(const std::string& words, const Json::Object& about = {}) {
    Json piece = Json::object({{"text", words}});
    for (const auto& [name, value] : about) piece[name] = value;
    pieces_.push_back(std::move(piece));
  }

  /// Returns the name of a relation for a reader.
  std::string spoken(const std::string& name) const {
    const Json* config = run_.find("config");
    const Json* task = config != nullptr ? config->find("task") : nullptr;
    return spoken_name(name, task != nullptr ? task->string() : "");
  }

  /// Returns the facts of a report. Error that names a missing part.
  template <class Tell>
  void from(const std::string& name, const Tell& tell) {
    const Json* report = run_.at("reports").find(name);
    if (report == nullptr) return;
    try {
      tell(*report);
    } catch (const Error& error) {
      throw Error(text("cannot read ", run_.at("name").string(), "/", name,
                       ".json: ", error.what()),
                  "repeat the command that wrote the file, which is damaged");
    }
  }

  void say_what_it_is() {
    std::size_t heads = 0;
    for (const Json& attention_layer : run_.at("attention_layers").items()) {
      heads += attention_layer.at("heads").items().size();
    }
    const Json& held_out = run_.at("evaluation");
    if (held_out.is_null()) return say(text(heads, heads == 1 ? " head. " : " heads. "));
    say(text(heads, heads == 1 ? " head" : " heads", ", loss ",
             significant(held_out.at("loss").number()), ", ",
             significant(100 * held_out.at("accuracy").number()), " % right. "));
    const Json* overfitting = run_.find("overfitting");
    if (overfitting != nullptr && !overfitting->string().empty()) {
      say("It is " + overfitting->string() + ". ");
    }
  }

  /// Returns the heads that meet the criteria of an owner of a relation, the best first.
  static std::vector<std::string> doers(const Json& heads, const std::string& relation) {
    std::vector<std::pair<double, std::string>> found;
    for (const Json& head : heads.at("heads").items()) {
      const Json* score = head.at("scores").find(relation);
      if (score == nullptr || !score->at("owns").boolean()) continue;
      const double lift = score->at("lift").number();
      found.emplace_back(-lift, text(head.at("layer").integer(), ".", head.at("head").integer()));
    }
    std::ranges::sort(found);
    return texts_of(found, &std::pair<double, std::string>::second);
  }

  /// Returns "0.0, 0.1 share 3 back, by token of the key (0.72 of it), together 0.84".
  std::string shared_text(const Json& division) const {
    const std::string& by = division.at("by").string();
    const std::vector<std::string> heads = texts_of(division.at("heads").items(), head_name);
    return text(join(heads, ", "), " share ", spoken(division.at("relation").string()),
                by.empty() ? ""
                           : text(", by ", by, " (", fixed(division.at("explained").number(), 2),
                                  " of it)"),
                ", together ", fixed(division.at("together").number(), 2));
  }

  static std::string head_name(const Json& pair) {
    return text(pair.items()[0].integer(), ".", pair.items()[1].integer());
  }

  /// Returns how heads share a relation; nullptr if one head has it alone.
  static const Json* shared(const Json& heads, const Json& relation) {
    const Json* divisions = heads.find("divisions");
    if (divisions == nullptr) return nullptr;
    const auto found = std::ranges::find(divisions->items(), relation,
                                         [](const Json& one) { return one.at("relation"); });
    return found == divisions->items().end() ? nullptr : &*found;
  }

  /// Returns whether the run has heads that can be removed, unlike patterns from an array.
  bool is_model() const {
    const Json::Array& layers = run_.at("attention_layers").items();
    return !run_.at("evaluation").is_null() && std::ranges::any_of(layers, [](const Json& layer) {
      return !layer.at("heads").items().empty();
    });
  }

  /// Adds a sentence on what is not known yet, with the command that finds it out.
  void say_unmeasured(const char* what, const char* command) {
    say(text(what, ": headlab ", command, " ", shell_word(run_.at("name").string()),
             " finds it out. "));
  }

  /// Adds "3 of them do most of the work: 0.0 owns 3 back; 0.4 owns same (0.2 too)", then shared
  /// relations and those without a head.
  void say_owners(const Json& heads) {
    std::vector<std::string> missing;
    std::set<std::string> owners;
    for (const Json& relation : heads.at("relations").items()) {
      if (!relation.at("owner").is_null()) owners.insert(relation.at("owner").dump());
    }
    if (owners.size() > 1) say(text(owners.size(), " of them do most of the work: "));
    std::size_t count = 0;
    for (const Json& relation : heads.at("relations").items()) {
      const std::string name = relation.at("name").string();
      if (why_untested(relation) != Untested::no) continue;
      const std::vector<std::string> who = doers(heads, name);
      if (const Json* division = shared(heads, relation.at("name"))) {
        say(text(count++ == 0 ? "" : "; ", shared_text(*division)),
            {{"head", head_name(division->at("heads").items()[0])}, {"relation", name}});
        continue;
      }
      if (relation.at("owner").is_null() || who.empty()) {
        missing.push_back(spoken(name));
        continue;
      }
      const std::vector<std::string> others(who.begin() + 1, who.end());
      say(text(count++ == 0 ? "" : "; ", who[0], " owns ", spoken(name),
               others.empty() ? "" : text(" (", join(others, ", "), " too)")),
          {{"head", who[0]}, {"relation", name}});
    }
    if (count > 0) say(". ");
    if (!missing.empty()) {
      say(text(count == 0 ? "No head owns a relation: " : "No head owns ", join(missing, ", "),
               ". "));
    }
  }

  /// Adds a sentence on the relations that cannot be tested for this reason.
  void say_not_tested(const Json& heads, Untested why) {
    std::vector<std::string> untested;
    for (const Json& relation : heads.at("relations").items()) {
      if (why_untested(relation) == why) untested.push_back(spoken(relation.at("name").string()));
    }
    if (!untested.empty()) {
      say(text("Not tested, because ", words_of(why), ": ", join(untested, ", "), ". "));
    }
  }

  /// Adds the smallest number of heads of the best method that keeps most of the loss, and the
  /// rule.
  void say_what_can_go(const Json& curve) {
    const Json* best = best_method(curve);
    const Json* point = best != nullptr ? used_point(*best) : nullptr;
    if (point == nullptr) return;
    const bool is_exact = best->at("method").string() == "exhaustive";
    const std::int64_t kept = point->at("kept").integer();
    say(text("Without any fine-tuning the ", is_exact ? "best " : "", kept, " of ",
             curve.at("heads").integer(), is_exact ? "" : " that greedy removal leaves",
             kept == 1 ? " is enough (loss " : " are enough (loss ",
             significant(point->at("loss").number()),
             "): at most 1 % of the cost of ablating all heads. "),
        {{"view", "prune"}});
  }

  void say_what_went(const Json& prune) {
    const std::size_t gone = prune.at("removed_heads").items().size();
    say(text(gone, " of ", gone + prune.at("kept").items().size(), " heads were removed by ",
             prune.at("method").string(), "; the loss was ",
             significant(prune.at("before").at("loss").number()), " before, ",
             significant(prune.at("without_finetuning").at("loss").number()),
             " without them, and is ", significant(prune.at("after").at("loss").number()),
             " after fine-tuning. "),
        {{"view", "prune"}});
  }

  const Json& run_;
  Json pieces_ = Json::array();
};

}  // namespace

Json conclusion_of(const Json& run) { return Conclusion(run).take(); }

Json untested_relations(const Json& reports) {
  Json untested = Json::object();
  const Json* heads = reports.find("heads");
  if (heads == nullptr) return untested;
  for (const Json& relation : heads->at("relations").items()) {
    const Untested why = why_untested(relation);
    if (why == Untested::no) continue;
    const char* advice = why == Untested::same_keys
                             ? "If the position of the query decides the keys, write "
                               "\"positional\": true for the relation in the header."
                             : "";
    untested[relation.at("name").string()] =
        Json::object({{"because", words_of(why)}, {"advice", advice}});
  }
  return untested;
}

/// Returns the mean patterns of all heads as text.
static std::string maps_html(const Json& run, const RunStudy& study) {
  std::vector<std::pair<std::string, std::vector<SmallMap>>> groups;
  for (std::size_t m = 0; m < study.attention_layers.size(); ++m) {
    const AttentionMaps& attention_layer = study.attention_layers[m];
    const Json& facts = run.at("attention_layers").items()[m];
    auto& [title, maps] = groups.emplace_back(facts.at("name").string(), std::vector<SmallMap>());
    const std::span<const float> all = attention_layer.mean_pattern;
    const auto cells = static_cast<std::size_t>(attention_layer.rows * attention_layer.columns);
    for (const Json& original : facts.at("heads").items()) {
      maps.push_back({text(m, ".", original.dump()), attention_layer.rows, attention_layer.columns,
                      all.subspan(maps.size() * cells, cells)});
    }
  }
  return "<p>Where heads look in the mean over examples: queries down, keys across.</p>\n<pre>" +
         html_text(small_maps(groups)) + "</pre>\n";
}

/// Returns the name of a relation for a reader, from the facts of its task.
static std::string spoken_in(const Json& task, const std::string& name) {
  for (const Json& relation : task.at("relations").items()) {
    if (relation.at("name").string() == name) return relation.at("spoken").string();
  }
  return name;
}

std::string static_html(const Json& run, const Json& task, const RunStudy& study) {
  std::string html = text("<p id=\"conclusion\">", html_text(task.at("question").string()), " ");
  for (const Json& piece : run.at("conclusion").items())
    html += html_text(piece.at("text").string());
  html += "</p>\n" + maps_html(run, study);
  const Json* heads = run.at("reports").find("heads");
  if (heads == nullptr) return html;
  const std::vector<Table> tables = result_of(*heads).tables;
  const auto found = std::ranges::find(tables, "relations", &Table::name);
  if (found == tables.end() || found->rows.empty()) return html;  // a task without relations
  Table best = *found;
  const std::size_t name = best.index_of("name");
  for (Json::Array& row : best.rows) row[name] = spoken_in(task, row[name].string());
  best.title = "The best head for each relation, on held-out examples";
  return html + "<div id=\"scores-table\">" + html_of(best) + "</div>\n";
}

}  // namespace headlab
