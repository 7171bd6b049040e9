// `headlab start`: a tour of six commands on one small run, which takes a few seconds. Each step
// tells what comes, runs a command, shows a part of its result, and says what it found
// (tour.h). The tour replaces only runs that it made itself: those whose settings are the tour's.
// Read next: tour.h; commands.cc.
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/tour.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// One step: a command with the sentences around it.
struct Stop {
  std::string before;
  std::vector<std::string> words;
  /// Part of the command's result that is shown; nothing is shown if it has no columns.
  Table shown;
  /// Returns the result of the command as sentences, from the files in the folders of the tour.
  std::function<std::string()> after;
};

/// Returns the words of `train` for the tour's settings: "--d-model 64" for "d_model=64".
std::vector<std::string> training_words(const Tour& tour) {
  std::vector<std::string> words = {"train", "--task", tour.task()};
  const std::string settings = tour.settings();
  for (const std::string_view setting : split(settings, ' ')) {
    const std::size_t sign = setting.find('=');
    std::string flag = "--" + std::string(setting.substr(0, sign));
    std::ranges::replace(flag, '_', '-');
    words.push_back(flag);
    words.emplace_back(setting.substr(sign + 1));
  }
  words.insert(words.end(), {"--out", tour.full.string(), "--force"});
  return words;
}

/// Columns of the table of relations that `heads` prints.
Table best_heads() {
  return {"relations",
          {{"name", "question"},
           Column("best", "head").of(CellKind::head, {"best.layer", "best.head"}),
           Column("best.mass", "attention there").fixed(2),
           {"verdict", "verdict"}}};
}

/// The steps of the plain tour but the last: what the model is asked, and what its heads do.
std::vector<Stop> stops_about_heads(const Tour& tour) {
  const std::string full = tour.full.string();
  return {
      {tour.plan.story,
       {"show", tour.task()},
       {"positions", tour.plan.positions},
       [] {
         return std::string(
             "A transformer answers by looking back at earlier tokens. An attention head decides "
             "where to look. This task says where each answer is, so you can check every head.");
       }},
      {"Train a small model, with one layer of heads.",
       training_words(tour),
       {"targets",
        {{"name", "question"}, {"loss", "loss"}, Column("accuracy", "right answers").percent(1)}},
       [=] { return about_training(tour); }},
      {"For each question, find the head that looks at the right place.",
       {"heads", full},
       best_heads(),
       [=] { return about_heads(tour.full); }},
      {"A head may look at the right place and still not be needed. Switch off one head at a time, "
       "and measure the loss.",
       {"ablate", full},
       {"heads",
        {kHeadColumn,
         {"loss", "loss without it"},
         Column("change", "change").shown_as(Form::signed_number)}},
       [=] { return about_ablation(tour); }}};
}

/// The measurements that a thorough tour adds to those that its page makes.
std::vector<Stop> more_measurements(const Tour& tour) {
  const std::string full = tour.full.string();
  std::vector<Stop> stops;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"ablate", full, "--truth-edges", "--examples", "512"},
        {"attribute", full},
        {"curve", full, "--methods", "greedy,exhaustive"}}) {
    stops.push_back({"Measure more for the page.", words, {}, [] { return std::string(); }});
  }
  return stops;
}

std::vector<Stop> stops_of(const Tour& tour) {
  const std::string full = tour.full.string(), pruned = tour.pruned.string();
  std::vector<Stop> stops = stops_about_heads(tour);
  if (tour.thorough) std::ranges::move(more_measurements(tour), std::back_inserter(stops));
  stops.push_back({text("Keep ", tour.plan.kept,
                        " heads: remove the others one by one, always the "
                        "one that costs least. Then train a little longer."),
                   {"prune", full, "--keep", text(tour.plan.kept), "--finetune",
                    text(tour.finetuned()), "--out", pruned, "--force"},
                   {"models",
                    {{"model", "model"},
                     {"heads", "heads"},
                     {"loss", "loss"},
                     Column("accuracy", "right answers").percent(1)}},
                   [=] { return about_pruning(tour); }});
  if (tour.thorough) {
    stops.push_back({"For each question, find the head again among those that are left.",
                     {"heads", pruned},
                     best_heads(),
                     [=] { return about_heads(tour.pruned); }});
  }
  stops.push_back(
      {"Put it all into one page, which runs the model in your browser. To switch a "
       "head off, click it, then Ablate.",
       {"page", full, pruned},
       {},
       [=] { return about_page(tour); }});
  return stops;
}

/// Returns the settings of the tour's run, as `train` makes it.
RunConfig config_of_tour(const Tour& tour) {
  RunConfig config = recommended_config(tour.task());
  config.task = tour.task();
  settings_of(config).set_all_text(tour.settings());
  fit_heads(config.model);
  fit_to_task(config);
  return config;
}

bool is_pruned_by_tour(const RunConfig& config, const Tour& tour) {
  const PruneOptions options{.keep = tour.plan.kept, .finetune = tour.finetuned()};
  return config.parent == tour.full.string() && config.pruning == pruning_text(options) &&
         config.extended.empty();
}

/// Throws an Error if a folder contains anything that the tour did not make.
void refuse_other_runs(const Tour& tour) {
  const auto refuse = [](const fs::path& folder) {
    throw Error("cannot write the tour's run to " + folder.string() +
                    ": it holds something that the tour did not make",
                "headlab start --out DIR");
  };
  for (const fs::path& folder : {tour.full, tour.pruned}) {
    if (!fs::exists(folder / "config.json")) {
      try {
        check_run_folder(folder, Existing::refuse);
      } catch (const FolderTaken&) {
        refuse(folder);
      }
      continue;
    }
    const RunConfig found = read_config(folder);
    const bool is_full = folder == tour.full;
    const bool ours = is_full ? found == config_of_tour(tour) : is_pruned_by_tour(found, tour);
    if (!ours) refuse(folder);
  }
}

/// Waits for Enter on a terminal. Returns false if the user interrupts instead.
bool wait_for_enter(const std::string& next) {
  note("press Enter for " + next + ", Ctrl-C to leave");
  constexpr int kMilliseconds = 100;  // a signal may come just before the wait
  char typed = 0;
  while (typed != '\n') {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&input, 1, kMilliseconds);
    if (interrupted()) return false;
    if (ready > 0 && read(STDIN_FILENO, &typed, 1) <= 0) return true;
  }
  return true;
}

bool is_empty(const Json& cell) {
  return is_blank(cell) || (cell.is_array() && cell.items().empty());
}

/// Returns the columns of a table of a result that have a value.
std::string shown_part(const Json& found, const Table& shape) {
  if (shape.columns.empty()) return "";
  Table table = table_of(found, shape);
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    const std::vector<Json> cells = table.cells(table.columns[c].key);
    if (!std::ranges::all_of(cells, is_empty)) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Json::Array& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return text_of(table, text_width()) + "\n";
}

/// Runs a step and shows a part of its result. Returns its exit status.
int show_stop(const Stop& stop, const std::string& which, bool quiet) {
  const std::string command = typed_program() + " " + join(texts_of(stop.words, shell_word), " ");
  print(wrapped(which + ": " + stop.before, "", text_width()) + "\n$ " + command + "\n\n");
  std::vector<std::string> words = stop.words;
  if (quiet) words.emplace_back("--quiet");
  const Output found = result_of_words(words);
  if (!found.note.empty()) note(found.note);
  if (found.status != 0) return found.status;
  print(shown_part(found.json, stop.shown));
  const std::string after = as_typed(stop.after());
  for (const std::string_view line : split(after, '\n')) {
    if (!line.empty()) print(wrapped(std::string(line), "", text_width()));
  }
  print("\n");
  return 0;
}

/// Returns the tour as JSON: the sentences of each step with the result of its command.
Output tour_as_json(const std::vector<Stop>& stops) {
  Json steps = Json::array();
  for (const Stop& stop : stops) {
    const Output found = result_of_words(stop.words);
    if (found.status != 0) return {.note = found.note, .status = found.status};
    steps.items().push_back(
        Json::object({{"before", stop.before}, {"result", found.json}, {"after", stop.after()}}));
  }
  return {.json = stamped({{"steps", steps}})};
}

}  // namespace

Output start(Invocation& call) {
  std::string out;
  bool thorough = false;
  Flags flags;
  flags.naming(ValueKind::folder, "out", out,
               "folder of the run [runs/start]; the pruned one is DIR-pruned");
  flags.boolean("thorough", thorough, "also run analyses that take longer, for the page");
  call.read(flags);
  const std::vector<std::string>& named = call.positionals();
  const std::string task = named.empty() ? "relations" : named[0];
  const Plan plan = plan_of(task);
  if (out.empty()) out = named.empty() ? "runs/start" : text("runs/start-", plan.name);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  const Tour tour{out, out + "-pruned", plan, thorough};
  refuse_other_runs(tour);
  const std::vector<Stop> stops = stops_of(tour);
  if (call.json()) return tour_as_json(stops);
  const bool quiet = call.given("quiet");
  const bool waits = !quiet && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  print(text("A tour in ", stops.size(), " steps. Each runs a command and shows a part of what it ",
             "prints. Ctrl-C leaves.\n\n"));
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const std::string which = text(i + 1, " of ", stops.size());
    if (waits && i > 0 && !wait_for_enter("step " + which)) return {.status = 130};
    const int status = show_stop(stops[i], which, quiet);
    if (status != 0) return {.status = status};
  }
  return {};
}

}  // namespace headlab::cli
