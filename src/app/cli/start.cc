// `headlab start`: a tour of six commands on one small run, which takes a few seconds. A sentence
// introduces each command. The sentence after it is computed from the files that the command wrote,
// so it is true of this run. The tour replaces only runs that it made itself: those whose settings
// are the tour's. Read next: commands.cc.
#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "relations:length=12";
constexpr Index kHeads = 8, kWidth = 64, kSteps = 600, kBatch = 32, kKept = 4, kFinetuned = 400;
constexpr double kSmallShare = 0.01;  // of the largest cost of a head

/// Folders of the tour's two runs.
struct Tour {
  fs::path full;
  fs::path pruned;
};

/// One step: a command with the sentences around it.
struct Stop {
  std::string before;
  std::vector<std::string> words;
  /// Returns the result of the command as a sentence, from the files in the folders of the tour.
  std::function<std::string()> after;
};

std::string percent(double share) { return fixed(100 * share, 2) + "%"; }

/// Returns "1 head" or "3 heads".
std::string heads_text(Index count) { return text(count, count == 1 ? " head" : " heads"); }

std::string name_of_head(const Json& layer, const Json& head) {
  return text(layer.integer(), ".", head.integer());
}

/// Returns the names of heads in a list of [layer, head].
std::vector<std::string> heads_in(const Json& list) {
  return texts_of(list.items(),
                  [](const Json& head) { return name_of_head(head.items()[0], head.items()[1]); });
}

std::string about_training(const Tour& tour) {
  const Json last = read_log(tour.full / "metrics.jsonl").back();
  const double accuracy = last.at("accuracy").number();
  const std::string learned = accuracy >= 0.99 ? "The model has learned the task: "
                                               : "The model has not learned the task yet: ";
  return learned + percent(accuracy) + " of the held-out targets are right, at a loss of " +
         significant(last.at("loss").number()) +
         " nats. Neither number shows which head does what.";
}

/// Owners of relations, each once, and the relations without one.
struct Owners {
  std::vector<std::string> heads{}, roles{}, missing{};
  Index all_heads = 0;
};

Owners owners_in(const fs::path& run) {
  const Json found = read_json(run / "heads.json");
  Owners owners;
  owners.all_heads = std::ssize(found.at("heads").items());
  for (const Json& relation : found.at("relations").items()) {
    const std::string name = relation.at("name").string();
    if (!relation.at("owned").boolean()) {
      owners.missing.push_back(name);
      continue;
    }
    const std::vector<Json>& owner = relation.at("owner").items();
    const std::string head = name_of_head(owner[0], owner[1]);
    owners.roles.push_back(head + " of " + name);
    if (std::ranges::count(owners.heads, head) == 0) owners.heads.push_back(head);
  }
  return owners;
}

std::string about_heads(const Tour& tour) {
  const Owners owners = owners_in(tour.full);
  std::string said = "Owners are the heads that find their keys far better than chance. ";
  said += owners.roles.empty() ? "There is none here." : "Here: " + join(owners.roles, ", ") + ".";
  if (!owners.missing.empty()) said += " No head owns " + join(owners.missing, ", ") + ".";
  return said;
}

std::string about_ablation(const Tour& tour) {
  const Json found = read_json(tour.full / "ablation.json");
  const auto change = [](const Json& head) { return head.at("change").number(); };
  const std::vector<Json>& heads = found.at("heads").items();
  const Json& most = *std::ranges::max_element(heads, {}, change);
  std::vector<std::string> cheap;
  for (const Json& head : heads) {
    if (change(head) < kSmallShare * change(most)) {
      cheap.push_back(name_of_head(head.at("layer"), head.at("head")));
    }
  }
  std::string rest = "No head costs less than 1% of that.";
  if (!cheap.empty()) {
    const std::string costs = cheap.size() == 1 ? " costs" : " cost";
    rest = text(heads_text(std::ssize(cheap)), costs, " less than 1% of that: ", join(cheap, ", "),
                ".");
  }
  return text("The costliest head is ", name_of_head(most.at("layer"), most.at("head")),
              ": without it the loss changes by ", significant(change(most)), " nats. ", rest);
}

std::string about_pruning(const Tour& tour) {
  const Json found = read_json(tour.pruned / "prune.json");
  const std::vector<std::string> kept = heads_in(found.at("kept"));
  const Owners owners = owners_in(tour.full);
  const auto owners_kept = std::ranges::count_if(owners.heads, [&](const std::string& head) {
    return std::ranges::count(kept, head) > 0;
  });
  const auto change = [&](const char* key, const auto& shown) {
    return shown(found.at("before").at(key).number()) + " to " +
           shown(found.at("after").at(key).number());
  };
  const auto nats = [](double loss) { return significant(loss); };
  return text("The ", kept.size(), " heads left are ", join(kept, ", "), "; ", owners_kept, " of ",
              owners.heads.size(), " owners are among them. The loss goes from ",
              change("loss", nats), ", the accuracy from ", change("accuracy", percent),
              ". The pruned model is a run: every command reads it.");
}

std::string about_page(const Tour& tour) {
  return "Open " + fs::absolute(tour.full / "report.html").string() +
         " in a browser. `headlab train --help` lists the settings for runs of your own.";
}

std::vector<Stop> stops_of(const Tour& tour) {
  const std::string full = tour.full.string(), pruned = tour.pruned.string();
  return {
      {"A task is a language with known ground truth: each token asks for other tokens.",
       {"show", kTask},
       [] {
         return std::string(
             "Each relation names the keys that hold an answer. A head that implements a relation "
             "attends to these keys.");
       }},
      {"Train a small transformer with one layer of eight heads on this task.",
       {"train", "--task", kTask, "--heads", text(kHeads), "--d-model", text(kWidth), "--steps",
        text(kSteps), "--batch", text(kBatch), "--out", full, "--force"},
       [=] { return about_training(tour); }},
      {"Compare the attention of each head with the ground truth.",
       {"heads", full},
       [=] { return about_heads(tour); }},
      {"Attention alone does not prove that a head matters. Ablate each head and measure the loss.",
       {"ablate", full},
       [=] { return about_ablation(tour); }},
      {"Remove four heads, chosen by the method greedy, then train the others a little longer.",
       {"prune", full, "--keep", text(kKept), "--finetune", text(kFinetuned), "--out", pruned,
        "--force"},
       [=] { return about_pruning(tour); }},
      {"Put everything into one HTML file that also contains the model.", {"page", full}, [=] {
         return about_page(tour);
       }}};
}

/// Returns the settings of the tour's run, as `train` makes it.
RunConfig config_of_tour() {
  RunConfig config = recommended_config(kTask);
  config.model.heads = {kHeads};
  config.model.d_model = kWidth;
  config.train.steps = kSteps;
  config.train.batch = kBatch;
  fit_heads(config.model);
  fit_to_task(config);
  return config;
}

bool is_pruned_by_tour(const RunConfig& config, const Tour& tour) {
  const PruneOptions options{.keep = kKept, .finetune = kFinetuned};
  return config.parent == tour.full.string() && config.pruning == pruning_text(options) &&
         config.extended.empty();
}

/// Throws an Error if a folder contains anything that the tour did not make.
void refuse_other_runs(const Tour& tour) {
  const auto refuse = [](const fs::path& folder) {
    throw Error("cannot write the tour's run to " + folder.string() +
                    ": it holds something that the tour did not make",
                "name another folder: headlab start --out DIR");
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
    const bool ours = is_full ? found == config_of_tour() : is_pruned_by_tour(found, tour);
    if (!ours) refuse(folder);
  }
}

/// Waits for Enter on a terminal. Returns false if the user interrupts instead.
bool wait_for_enter(const std::string& next) {
  note("\npress Enter for " + next);
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

/// Runs a step and returns its exit status.
int show_stop(const Stop& stop, const std::string& which, bool quiet) {
  print(text(which, ": ", wrapped(stop.before, "", 70), "\n$ ", typed_program(), " ",
             join(texts_of(stop.words, shell_word), " "), "\n\n"));
  std::vector<std::string> words = stop.words;
  if (quiet) words.emplace_back("--quiet");
  const int status = run_words(words);
  if (status == 0) print("\n" + wrapped(as_typed(stop.after()), "", text_width()) + "\n");
  return status;
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
  std::string out = "runs/start";
  Flags flags;
  flags.string("out", out, "folder of the run; the pruned one is DIR-pruned", "DIR");
  call.read(flags);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  const Tour tour{out, out + "-pruned"};
  refuse_other_runs(tour);
  const std::vector<Stop> stops = stops_of(tour);
  if (call.json()) return tour_as_json(stops);
  const bool quiet = call.given("quiet");
  const bool waits = !quiet && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const std::string which = text(i + 1, " of ", stops.size());
    if (waits && i > 0 && !wait_for_enter("step " + which)) return {.status = 130};
    const int status = show_stop(stops[i], which, quiet);
    if (status != 0) return {.status = status};
  }
  return {};
}

}  // namespace headlab::cli
