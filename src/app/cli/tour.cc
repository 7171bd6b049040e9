// The examples of the tour, and the sentences that follow its steps. Each sentence is computed from
// the files of the runs, so it is true of them; tests/cli/start_test.cc compares the two.
// Read next: tour.h.
#include "app/cli/tour.h"

#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

#include <algorithm>

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kSmallShare = 0.01;  // of the largest cost of a head

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

/// Owners of relations, each once, and the relations without one.
struct Owners {
  std::vector<std::string> heads{}, roles{}, missing{};
};

Owners owners_in(const fs::path& run) {
  const Json found = read_json(run / "heads.json");
  Owners owners;
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

/// Returns the command with which the system opens a file in its browser.
std::string opening_command(const fs::path& file) {
#ifdef __APPLE__
  const std::string open = "open ";
#else
  const std::string open = "xdg-open ";
#endif
  return open + shell_word(file.string());
}

}  // namespace

const Plan& plan_of(const std::string& name) {
  static const std::vector<Plan> plans = {
      {"relations",
       "relations:length=12",
       "heads=8 d_model=64 steps=600 batch=32 track_heads=64 keep_weights=20",
       "heads=8 track_heads=64 keep_weights=20",
       "The task: the model reads letters. At each letter it says which letter came just before, "
       "which came three and five letters before, and which was the last one of the same class "
       "(every fourth letter of the alphabet: a, e, i and m are one class). Later tables call "
       "these questions back1, back3, back5 and same.",
       {{"token", "letter"},
        element_column("targets", 0, "1 before"),
        element_column("targets", 1, "3 before"),
        element_column("targets", 2, "5 before"),
        element_column("targets", 3, "same class")},
       4,
       400},
      {"english",
       "english",
       "heads=4 steps=600 track_heads=64 keep_weights=20",
       "heads=4 track_heads=64 keep_weights=20",
       "The task: the model reads a sentence and says its next word. \"now the dogs near our "
       "king\" goes on with \"are\": it is the dogs that count, not the king.",
       {{"position", "position"},
        {"token", "word"},
        element_column("targets", 0, "next word"),
        element_column("keys", 0, "subject at"),
        element_column("keys", 1, "time at"),
        element_column("keys", 2, "self at"),
        element_column("keys", 3, "this at")},
       3,
       200}};
  const auto found = std::ranges::find(plans, name, &Plan::name);
  if (found == plans.end()) {
    throw UsageError("cannot show the tour of '" + name + "': there is none",
                     "name one of " + join(texts_of(plans, &Plan::name), ", "));
  }
  return *found;
}

std::string about_training(const Tour& tour) {
  const Json last = read_log(tour.full / "metrics.jsonl").back();
  const double accuracy = number_or_nan(last, "accuracy");
  const std::string learned = accuracy >= 0.99 ? "The model has learned the task: "
                                               : "The model has not learned the task yet: ";
  return learned + percent(accuracy) +
         " of its answers on new examples are right, and the loss is " +
         significant(number_or_nan(last, "loss")) +
         " nats. Neither number shows which head does what.";
}

std::string about_heads(const std::filesystem::path& run) {
  const Owners owners = owners_in(run);
  std::string said =
      "The owner of a question is the head that looks at the right place far more than by chance. ";
  said += owners.roles.empty() ? "There is none here." : "Here: " + join(owners.roles, ", ") + ".";
  if (owners.heads.size() < owners.roles.size()) {
    const Index heads = std::ssize(owners.heads);
    said += text(" ", heads_text(heads), heads == 1 ? " owns " : " own ", owners.roles.size(),
                 " questions: a head may own several, if they are never asked at the same token.");
  }
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
  return text("Head ", name_of_head(most.at("layer"), most.at("head")),
              " costs most: without it the loss changes by ", significant(change(most)), " nats. ",
              rest);
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
  return text("These ", kept.size(), " heads are left: ", join(kept, ", "), ". Among them are ",
              owners_kept, " of the ", owners.heads.size(), " owners. The loss goes from ",
              change("loss", nats), ", and the accuracy from ", change("accuracy", percent),
              ". The pruned model is a run like any other: every command takes it.");
}

std::string about_page(const Tour& tour) {
  const bool is_first = std::string_view(tour.plan.name) == "relations";
  const std::string next = is_first ? "The same tour with words: headlab start english"
                                    : "The settings for a run of your own: headlab train --help";
  const fs::path page = fs::absolute(tour.full / "report.html");
  return next + "\nThe page: " + page.string() + "\nTo open it: " + opening_command(page) +
         "\nTo watch heads find their roles in a browser: headlab page --playground";
}

}  // namespace headlab::cli
