// Assembly of a page: runs are opened, studied once, and converted to facts and blocks according to
// a plan. If the result is too large, the plan is reduced and the facts are made again from the
// same studies. Read next: page_html.cc.
#include "headlab/app/report/page.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>

#include "app/report/page_html.h"
#include "app/report/page_parts.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

struct StudiedRun {
  Run run;
  RunStudy study;
  std::optional<std::size_t> parent{};  // index of its parent among the runs
  bool is_parent = false;
};

/// Returns the run from which this one was pruned, if it exists and fits this one.
std::optional<Run> parent_of(const Run& run, std::vector<std::string>& left_out) {
  if (run.config.parent.empty()) return std::nullopt;
  try {
    return open_run(run.config.parent);
  } catch (const Error& error) {
    left_out.push_back(text("The run from which ", run.path.string(),
                            " was pruned is not shown: ", error.what(), "."));
    return std::nullopt;
  }
}

class PageMaker {
 public:
  /// Builds the lessons alone, on the runs of a sweep.
  PageMaker(const std::filesystem::path& sweep, const std::string& name, const PageOptions& options)
      : options_(options), title_("Attention heads in seven lessons"), textbook_(name) {
    if (!sweep.empty()) {
      sweep_ = read_sweep(sweep, false);
      for (const std::filesystem::path& path : sweep_->runs) add(open_run(path), false);
    }
    plan_.shown = options.examples;
    plan_.snapshots = 0;
  }

  PageMaker(const std::vector<std::filesystem::path>& paths, const PageOptions& options)
      : options_(options) {
    require(!paths.empty(), "cannot write a page: it needs at least one run");
    title_ = paths[0].string();
    if (paths.size() == 1 && is_sweep(paths[0])) sweep_ = read_sweep(paths[0], true);
    const std::vector<std::filesystem::path>& named = sweep_ ? sweep_->runs : paths;
    for (const std::filesystem::path& path : named) add(open_run(path), false);
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (std::optional<Run> parent = parent_of(runs_[i].run, missing_)) {
        const std::size_t place = place_of(*parent);
        if (place == runs_.size()) add(std::move(*parent), true);
        runs_[i].parent = place;
      }
    }
    for (const UnkeptResult& one : options.unkept) {
      missing_.push_back(text("Measured for this page, and not kept in ", one.run,
                              ", which could not be written: ", one.file, "."));
    }
    plan_.shown = options.examples;
    plan_.weights = options.weights;
  }

  Page make() {
    Page page = made();
    while (too_large(page) && make_poorer()) page = made();
    if (too_large(page)) {
      page.left_out.push_back(text("The page takes ",
                                   fixed(static_cast<double>(page.html.size()) / 1e6, 1),
                                   " MB: nothing more can be left out."));
    }
    return page;
  }

 private:
  /// Leaves out the next part in turn; returns false if there is nothing more.
  bool make_poorer() {
    if (const Index snapshots = std::min(plan_.snapshots, most_snapshots()); snapshots > 1) {
      plan_.snapshots = snapshots > 5 ? std::max<Index>(5, snapshots * 3 / 4) : 0;
    } else if (plan_.maps && most_snapshots() > 1) {
      plan_.maps = false;
    } else if (plan_.examples > 32) {
      plan_.examples = plan_.examples > 128 ? 128 : 32;
    } else if (plan_.trials && has_trial_maps()) {
      plan_.trials = false;
    } else if (plan_.weights) {
      plan_.weights = false;
    } else if (plan_.shown > 1) {
      plan_.shown = 1;
    } else {
      return false;
    }
    return true;
  }

  bool has_trial_maps() const {
    const auto has_maps = [](const PageTrial& trial) { return !trial.attention_layers.empty(); };
    return sweep_ && std::ranges::any_of(sweep_->trials, has_maps);
  }

  /// Returns sentences about the parts that the plan leaves out.
  std::vector<std::string> left_out() const {
    std::vector<std::string> sentences = missing_;
    const auto say = [&](const auto&... parts) { sentences.push_back(text(parts...)); };
    if (plan_.snapshots < most_snapshots()) {
      say(plan_.snapshots, " of ", most_snapshots(), " kept steps of training are shown",
          plan_.snapshots == 0 && plan_.maps ? " with their weights, all as maps." : ".");
    }
    if (plan_.examples < PagePlan().examples) {
      say("Each set holds ", plan_.examples, " of ", PagePlan().examples, " examples.");
    }
    if (!plan_.trials) say("The maps of the heads of each trial are left out.");
    if (!plan_.weights && options_.weights) {
      say("The weights are left out: patterns are shown, and nothing runs live.");
    }
    if (plan_.shown < options_.examples) say("One example is offered to look at.");
    return sentences;
  }

  void add(Run run, bool is_parent) {
    RunStudy study = study_run(run);
    plan_.examples = std::min(plan_.examples, study.examples);
    runs_.push_back({std::move(run), std::move(study), {}, is_parent});
  }

  std::size_t place_of(const Run& wanted) const {
    std::error_code ignored;
    std::size_t i = 0;
    const auto is_wanted = [&](const Run& run) {
      return run.best == wanted.best && std::filesystem::equivalent(run.path, wanted.path, ignored);
    };
    while (i < runs_.size() && !is_wanted(runs_[i].run)) {
      ++i;
    }
    return i;
  }

  Index most_snapshots() const {
    Index most = 0;
    for (const StudiedRun& one : runs_) most = std::max(most, std::ssize(one.study.snapshots));
    return most;
  }

  bool too_large(const Page& page) const {
    return static_cast<double>(page.html.size()) > options_.megabytes * 1e6;
  }

  /// Returns the tasks of the runs: runs of one task share it.
  Json tasks(PageBlocks& blocks, std::vector<std::size_t>& task_of) const {
    Json tasks = Json::array();
    std::vector<std::string> specs;
    for (const StudiedRun& one : runs_) {
      const std::string spec = text(one.run.task->spec(), "\n", one.run.task->data_hash());
      const auto known = std::ranges::find(specs, spec);
      task_of.push_back(static_cast<std::size_t>(known - specs.begin()));
      if (known != specs.end()) continue;
      specs.push_back(spec);
      tasks.push_back(task_facts(*one.run.task, plan_, blocks));
    }
    return tasks;
  }

  /// Returns the files of a run that views need; lessons need no missing ones.
  std::vector<PageSource> sources_of(const StudiedRun& one) const {
    return textbook_ ? std::vector<PageSource>{} : run_sources(one.run, options_);
  }

  Json facts_of(const StudiedRun& one, std::size_t task, PageBlocks& blocks) const {
    Json facts = run_facts(one.run, one.study, plan_, blocks, options_);
    facts["role"] = one.is_parent ? "parent" : "run";
    facts["parent"] = one.parent;
    facts["task"] = task;
    facts["conclusion"] = conclusion_of(facts);
    facts["untested"] = untested_relations(facts.at("reports"));
    if (textbook_) facts["name"] = *textbook_ + "/" + one.run.path.filename().string();
    facts["files"] = sources_of(one);
    return facts;
  }

  Json facts(PageBlocks& blocks) const {
    std::vector<std::size_t> task_of;
    Json facts = common_facts(title_, options_);
    if (textbook_) facts["textbook"] = true;
    if (sweep_) facts["sweep"] = sweep_facts(*sweep_, plan_, blocks);
    facts["tasks"] = tasks(blocks, task_of);
    Json& runs = facts["runs"] = Json::array();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs.push_back(facts_of(runs_[i], task_of[i], blocks));
    }
    add_enough_heads(facts);
    facts["diversity"] = diversity_facts(facts);
    facts["left_out"] = left_out();
    return facts;
  }

  /// Adds to each run how many of its heads are enough.
  static void add_enough_heads(Json& facts) {
    Json::Array& runs = facts["runs"].items();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::vector<const Json*> pruned;
      for (const Json& other : runs) {
        if (other.at("parent") == Json(i)) pruned.push_back(&other);
      }
      const Json& task = facts.at("tasks").items()[runs[i].at("task").integer()];
      runs[i]["enough"] = enough_heads(runs[i], task, pruned);
    }
  }

  /// Returns what a page shows without scripts: of a sweep its conclusions, then the run with which
  /// it opens.
  std::string static_part(const Json& facts) const {
    const std::size_t shown = sweep_ ? opening_run(*sweep_) : 0;
    const Json& run = facts.at("runs").items()[shown];
    const Json& task = facts.at("tasks").items()[run.at("task").integer()];
    const std::string of_run = static_html(run, task, runs_[shown].study);
    if (!sweep_) return of_run;
    const std::string name = html_text(run.at("name").string());
    return text(static_html(*sweep_), "<h2>The run ", name, "</h2>\n", of_run);
  }

  Page made() const {
    Page page;
    PageBlocks blocks;
    const Json all = facts(blocks);
    page.html = html_page({{"title", html_text(all.at("title").string())},
                           {"static", textbook_ ? "" : static_part(all)},
                           {"lessons", lessons_html()},
                           {"data", data_html(all, blocks, page)}});
    page.left_out = left_out();
    for (const StudiedRun& one : runs_) {
      std::ranges::move(sources_of(one), std::back_inserter(page.sources));
    }
    return page;
  }

  const PageOptions& options_;
  std::string title_;
  std::optional<std::string> textbook_{};  // name of the sweep of a textbook
  std::optional<PageSweep> sweep_;
  std::vector<StudiedRun> runs_;
  PagePlan plan_;
  std::vector<std::string> missing_;
};

}  // namespace

Page make_page(const std::vector<std::filesystem::path>& paths, const PageOptions& options) {
  return PageMaker(paths, options).make();
}

Page make_textbook(const std::filesystem::path& sweep, const std::string& name,
                   const PageOptions& options) {
  return PageMaker(sweep, name, options).make();
}

}  // namespace headlab
