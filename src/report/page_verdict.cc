// What a run shows, in words: how good it is, who owns which relation beside the level of chance,
// and how many heads can go. Every claim comes from a file of the run, and is cut out as a piece of
// its own, so that a page can link it to the view that shows it. Read next: page_static.cc.
#include <algorithm>

#include "headlab/report/table.h"
#include "report/page_parts.h"

namespace headlab {
namespace {

class Verdict {
 public:
  explicit Verdict(const Json& run) : run_(run) {}

  Json take() {
    say_what_it_is();
    if (run_.at("reports").find("heads") == nullptr)
      say("Which head does what has not been scored. ");
    from("heads", [&](const Json& heads) { say_owners(heads); });
    from("curve", [&](const Json& curve) { say_what_can_go(curve); });
    from("prune", [&](const Json& prune) { say_what_went(prune); });
    return std::move(pieces_);
  }

 private:
  void say(const std::string& words, const Json::Object& about = {}) {
    Json piece = Json::object({{"text", words}});
    for (const auto& [name, value] : about) piece[name] = value;
    pieces_.push_back(std::move(piece));
  }

  /// What a report says; one that lacks what it should hold is named.
  template <class Tell>
  void from(const std::string& name, const Tell& tell) {
    const Json* report = run_.at("reports").find(name);
    if (report == nullptr) return;
    try {
      tell(*report);
    } catch (const Error& error) {
      throw Error(text(run_.at("name").string(), "/", name, ".json: ", error.what()),
                  "the file is damaged: make it again");
    }
  }

  void say_what_it_is() {
    std::size_t heads = 0;
    for (const Json& module : run_.at("modules").items())
      heads += module.at("heads").items().size();
    const Json& held_out = run_.at("evaluation");
    say(text(heads, heads == 1 ? " head" : " heads", ", loss ",
             significant(held_out.at("loss").number()), ", accuracy ",
             significant(held_out.at("accuracy").number()), " on held-out examples. "));
  }

  static std::string probability(const Json& p) {
    if (!p.is_number()) return "p unknown";
    return p.number() < 0.01 ? "p < 0.01" : "p " + fixed(p.number(), 2);
  }

  /// "0.4 does same (lift 0.94, chance 0.48, p < 0.01)", or who comes nearest.
  void say_relation(const Json& relation, bool last) {
    const std::string name = relation.at("name").string();
    const std::string end = last ? ". " : ", ";
    const Json& best = relation.at("best");
    if (best.is_null()) return say(text("nobody can do ", name, end));
    const std::string head = text(best.at("layer").integer(), ".", best.at("head").integer());
    const auto number = [&](const char* of) {
      return best.at(of).is_number() ? fixed(best.at(of).number(), 2) : std::string("-");
    };
    const std::string grounds = text(" (lift ", number("lift"), ", chance ", number("null"), ", ",
                                     probability(best.at("p")), ")");
    const bool owned = !relation.at("owner").is_null();
    say(owned ? text(head, " does ", name, grounds)
              : text("nobody does ", name, ", nearest is ", head, grounds),
        {{"head", head}, {"relation", name}});
    say(end);
  }

  void say_owners(const Json& heads) {
    const Json::Array& relations = heads.at("relations").items();
    if (relations.empty()) return;
    std::vector<Json> owners;
    for (const Json& relation : relations) {
      const Json& owner = relation.at("owner");
      if (!owner.is_null() && std::ranges::find(owners, owner) == owners.end())
        owners.push_back(owner);
    }
    const std::size_t all = heads.at("heads").items().size();
    say(owners.empty() ? text("No head owns a relation: ")
                       : text(owners.size(), " of ", all, owners.size() == 1 ? " owns" : " own",
                              " a relation: "),
        {{"view", "heads"}});
    for (std::size_t r = 0; r < relations.size(); ++r)
      say_relation(relations[r], r + 1 == relations.size());
  }

  /// The fewest heads of the best method whose loss is still that of all, nearly.
  void say_what_can_go(const Json& curve) {
    const Json* best = nullptr;
    for (const char* name : {"greedy", "exhaustive"})
      for (const Json& method : curve.at("methods").items())
        if (method.at("method").string() == name) best = &method;
    if (best == nullptr || !best->at("knee").is_number()) return;
    const std::int64_t left = best->at("knee").integer(), all = curve.at("heads").integer();
    for (const Json& point : best->at("points").items()) {
      if (point.at("kept").integer() != left) continue;
      const bool tuned = point.find("finetuned") != nullptr;
      const Json& judged = tuned ? point.at("finetuned") : point;
      say(text(all - left, all - left == 1 ? " head" : " heads", " can go: with the best ", left,
               tuned ? " and fine-tuning" : " and no fine-tuning", " the loss is ",
               significant(judged.at("loss").number()), ". "),
          {{"view", "prune"}});
    }
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

Json verdict_of(const Json& run) { return Verdict(run).take(); }

}  // namespace headlab
