// A page of stored patterns: one run without a model. Views that need weights, a loss or a history
// are left out by the scripts (facts "stored": true). All examples are scored; as many as fit are
// shown. Read next: page_data.cc, lab/heads/scores/stored_patterns.h.
#include <algorithm>

#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

class StoredPageMaker {
 public:
  StoredPageMaker(const StoredPatterns& patterns, const StoredPage& about,
                  const PageOptions& options)
      : patterns_(patterns),
        about_(about),
        options_(options),
        shown_(std::min(options.examples, patterns.examples())),
        study_(study_patterns(patterns.model(), batch_of(patterns.examples()))) {}

  Page make() {
    Page page = made();
    while (is_too_large(page) && shown_ > 1) {
      shown_ = shown_ / 2;
      page = made();
    }
    if (is_too_large(page)) {
      const double megabytes = static_cast<double>(page.html.size()) / 1e6;
      page.left_out.push_back(
          text("The page takes ", fixed(megabytes, 1), " MB: nothing more can be left out."));
    }
    return page;
  }

 private:
  bool is_too_large(const Page& page) const {
    return static_cast<double>(page.html.size()) > options_.megabytes * 1e6;
  }

  Batch batch_of(Index examples) const {
    return patterns_.task().make({}, examples, Split::validation).batch;
  }

  /// Returns the sentences on what the page does not hold.
  std::vector<std::string> left_out() const {
    if (shown_ == patterns_.examples()) return {};
    return {text(shown_, " of ", patterns_.examples(), " examples are shown; all are scored.")};
  }

  Json attention_layers() const {
    Json json = Json::array();
    for (const AttentionLayer& attention_layer : patterns_.model().attention_layers()) {
      json.push_back(Json::object({{"name", attention_layer.name},
                                   {"title", title_of(attention_layer)},
                                   {"kind", kind_name(attention_layer.kind)},
                                   {"layer", attention_layer.layer},
                                   {"stream", 0},
                                   {"heads", attention_layer.attention->heads},
                                   {"original_heads", attention_layer.attention->head_count()},
                                   {"d_head", 0},
                                   {"d_value", 0},
                                   {"window", 0},
                                   {"kv_blocks", attention_layer.attention->heads},
                                   {"kv_head", attention_layer.attention->heads}}));
    }
    return json;
  }

  bool normalises() const {
    const auto attention_layers = patterns_.model().attention_layers();
    return kind_of(attention_layers[0].attention->function).normalises;
  }

  using Weights = std::vector<std::vector<Scalar>>;  // by attention layer

  static bool are_shares(const Weights& weights) {
    const auto is_share = [](Scalar value) { return 0 <= value && value <= 1; };
    return std::ranges::all_of(weights, [&](const auto& layer) {
      return std::ranges::all_of(layer, is_share);
    });
  }

  Json run(const Weights& weights, PageBlocks& blocks) const {
    const Json nothing;
    Json facts = Json::object({{"name", about_.name},
                               {"config", Json::object({})},
                               {"normalises", normalises()},
                               {"parameters", 0},
                               {"attention_layers", attention_layers()},
                               {"evaluation", nothing},
                               {"overfitting", ""},
                               {"shown", shown_},
                               {"role", "run"},
                               {"parent", nothing},
                               {"task", 0},
                               {"history", nothing},
                               {"snapshots", nothing},
                               {"losses", Json::object({})},
                               {"figures", Json::object({})},
                               {"files", Json::array()}});
    facts["patterns"] = patterns_facts(study_, weights, shown_, blocks);
    facts["thumbnails"] = thumbnails_facts(study_, blocks);
    facts["reports"] = Json::object({{"heads", about_.heads}});
    facts["tables"] = shown_tables(facts.at("reports"), patterns_.task());
    facts["conclusion"] = conclusion_of(facts);
    facts["untested"] = untested_relations(facts.at("reports"));
    return facts;
  }

  /// Returns the task; `in_bytes` says whether each weight takes a byte (PageBlocks::shares).
  Json task(bool in_bytes, PageBlocks& blocks) const {
    Example example = patterns_.task().make({}, shown_, Split::validation);
    example.batch.vectors.clear();  // the numbers of the examples, which a page has as their order
    example.batch.features = 0;
    Json task = task_facts(patterns_.task());
    if (in_bytes) {
      task["question"] = task.at("question").string() +
                         " Weights are stored in 8 bits, with errors of at most 0.004.";
    }
    task["target_names"] = std::vector<std::string>{"attention"};  // a lane for the chosen head
    const Json set = set_facts(patterns_.task(), example, blocks);
    task["sets"] = Json::object({{"held_out", set}, {"scored", set}});
    return task;
  }

  Page made() const {
    Page page;
    PageBlocks blocks;
    Json facts = common_facts(about_.name, options_);
    facts["stored"] = true;
    const Weights weights = patterns_on(patterns_.model(), batch_of(shown_));
    facts["tasks"] = Json::Array{task(are_shares(weights), blocks)};
    facts["runs"] = Json::Array{run(weights, blocks)};
    Json& shown = facts["runs"].items()[0];
    shown["enough"] = enough_heads(shown, facts.at("tasks").items()[0], {});
    facts["left_out"] = left_out();
    page.html = html_page(
        {{"title", html_text(about_.name)},
         {"static", static_html(facts.at("runs").items()[0], facts.at("tasks").items()[0], study_)},
         {"lessons", lessons_html()},
         {"data", data_html(facts, blocks, page)}});
    page.left_out = left_out();
    return page;
  }

  const StoredPatterns& patterns_;
  const StoredPage& about_;
  const PageOptions& options_;
  Index shown_;
  RunStudy study_;
};

}  // namespace

Page make_page(const StoredPatterns& patterns, const StoredPage& about,
               const PageOptions& options) {
  return StoredPageMaker(patterns, about, options).make();
}

}  // namespace headlab
