// How many heads of a run are enough: the fewest of its curve in two senses, what its task needs,
// and the runs that were pruned from it. Views, steps and conclusions of a page start from these
// facts. Read next: page_conclusion.cc.
#include <algorithm>

#include "app/report/page_parts.h"
#include "headlab/app/report/figures.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr double kUnnoticed = 0.01;  // fewer right answers that a set of heads may give

/// Returns the names of all heads of a run: "0.1".
Json head_names(const Json& run) {
  Json names = Json::array();
  const Json::Array& layers = run.at("attention_layers").items();
  for (std::size_t m = 0; m < layers.size(); ++m) {
    for (const Json& head : layers[m].at("heads").items()) {
      names.push_back(text(m, ".", head.dump()));
    }
  }
  return names;
}

/// Returns the points of a method that keep some heads but not all, the largest first.
std::vector<const Json*> smaller_points(const Json& method, const Json& heads) {
  std::vector<const Json*> points;
  for (const Json& point : method.at("points").items()) {
    const std::int64_t kept = point.at("kept").integer();
    if (kept > 0 && kept < std::ssize(heads.items())) points.push_back(&point);
  }
  const auto kept = [](const Json* point) { return point->at("kept").integer(); };
  std::ranges::stable_sort(points, std::greater<>(), kept);
  return points;
}

/// Adds "kept", the fewest heads of the order of removal with at most one point fewer right
/// answers, and "first", the right answers without the head that is removed first.
void add_kept(const Json& curve, const Json& method, const Json& heads, Json& facts) {
  const Json* full = curve.find("full");
  if (full == nullptr || !full->is_object()) return;
  const std::vector<const Json*> points = smaller_points(method, heads);
  facts["kept"] = heads;
  if (!points.empty()) facts["first"] = points[0]->at("accuracy");
  for (const Json* point : points) {
    if (point->at("accuracy").number() < full->at("accuracy").number() - kUnnoticed) continue;
    Json kept = Json::array();
    for (const Json& head : point->at("heads").items()) {
      kept.push_back(text(head.items()[0].dump(), ".", head.items()[1].dump()));
    }
    facts["kept"] = std::move(kept);
  }
}

/// Returns the indices of the methods of a curve, those that are looked at most first.
std::vector<std::size_t> order_of_methods(const Json& curve) {
  const Json::Array& methods = curve.at("methods").items();
  std::vector<std::size_t> order(methods.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    return std::ranges::find(kTypicalMethods, methods[i].at("method").string());
  };
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

Json row_of(std::int64_t heads, std::string what, std::string why) {
  return Json::Array{text(heads), std::move(what), std::move(why)};
}

/// Returns the row of a run that was pruned from another one.
Json pruned_row(const Json& run) {
  std::size_t heads = 0;
  for (const Json& layer : run.at("attention_layers").items()) {
    heads += layer.at("heads").items().size();
  }
  const Json* prune = run.at("reports").find("prune");
  const Json* steps = prune != nullptr ? prune->find("finetuned") : nullptr;
  return row_of(static_cast<std::int64_t>(heads),
                text("after ", steps != nullptr ? steps->integer() : 0, " steps of fine-tuning"),
                text("loss ", two_digits(run.at("evaluation").at("loss").number()), " in the run ",
                     run.at("name").string()));
}

/// Returns the rows of a table: [number of heads, of what, the rule].
Json rows_of(const Json& run, const Json& task, const Json* point) {
  Json rows = Json::array();
  if (point != nullptr) {
    rows.push_back(row_of(point->at("kept").integer(), "this model, without fine-tuning",
                          text("loss ", two_digits(point->at("loss").number()),
                               ": fewest heads that cost at most 1 % of what removing all heads "
                               "costs")));
  }
  const Json* imported = run.at("config").find("imported");
  const bool is_imported = imported != nullptr && !imported->string().empty();
  const Json& needed = task.at("needed");
  if (!needed.is_null() && !is_imported) {
    const std::int64_t heads = needed.integer();
    rows.push_back(row_of(heads, "the task, by its definition",
                          text(heads == 1 ? "one head" : text(heads, " heads"),
                               " can solve it, and with fewer the loss stays high; a trained model "
                               "may use more heads")));
  }
  return rows;
}

}  // namespace

const Json* best_method(const Json& curve) {
  const Json* best = nullptr;
  for (const char* name : {"greedy", "exhaustive"}) {
    for (const Json& method : curve.at("methods").items()) {
      if (method.at("method").string() == name) best = &method;
    }
  }
  return best;
}

const Json* used_point(const Json& method) {
  if (!method.at("used").is_number()) return nullptr;
  const Json::Array& points = method.at("points").items();
  const auto kept = [](const Json& point) { return point.at("kept"); };
  const auto found = std::ranges::find(points, method.at("used"), kept);
  return found == points.end() ? nullptr : &*found;
}

Json enough_heads(const Json& run, const Json& task, const std::vector<const Json*>& pruned) {
  Json facts = Json::object({{"method", Json()}, {"kept", Json()}, {"first", Json()}});
  facts["order"] = Json::array();
  const Json* curve = run.at("reports").find("curve");
  const Json* best = curve != nullptr ? best_method(*curve) : nullptr;
  if (curve != nullptr) facts["order"] = order_of_methods(*curve);
  if (best != nullptr) {
    facts["method"] = best->at("method");
    add_kept(*curve, *best, head_names(run), facts);
  }
  facts["rows"] = rows_of(run, task, best != nullptr ? used_point(*best) : nullptr);
  for (const Json* one : pruned) facts["rows"].push_back(pruned_row(*one));
  return facts;
}

}  // namespace headlab
