// Figures of all heads: their lifts on all relations, and what each costs when it is ablated. A
// second panel shows how heads split relations, if they do.
// Read next: grid.cc, which draws patterns and how heads split relations.
#include <algorithm>
#include <cmath>

#include "app/report/chart.h"
#include "headlab/app/report/figures.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr double kFewestNamed = 24;  // smallest side of a cell with a number in it
constexpr double kDark = 0.5;        // lifts of this or more have dark colours
constexpr Index kManyHeads = 16;     // more heads have smaller cells

bool is_owner(const HeadsReport& report, std::size_t head, std::size_t relation) {
  return std::string_view(report.role(head, relation)) == "owner";
}

MatrixChart lift_chart(const HeadsReport& report, double width) {
  MatrixChart chart{.width = width};
  for (const HeadScores& head : report.heads) {
    chart.rows.push_back(head_text(head));
    for (const RelationScore& score : head.relations) {
      chart.values.push_back(static_cast<Scalar>(score.lift));
    }
  }
  double longest = 0;
  for (const RelationWinner& one : report.relations) {
    chart.columns.push_back(one.relation.name);
    longest = std::max(longest, text_width(one.relation.name));
  }
  chart.axes =
      "heads down, relations across; lift: attention mass on the ground truth, 0 at the "
      "chance level and 1 if perfect; ★ owner";
  chart.value = "lift";
  chart.side = std::ssize(report.heads) > kManyHeads ? kFewestNamed : 40;
  chart.name_room = longest + 1;
  return chart;
}

/// Writes the number of a lift into its cell, or a star alone if there is no room.
void write_lift(Picture& picture, const Box& cell, double lift, bool owned) {
  if (!std::isfinite(lift)) return;
  const bool has_room = cell.w >= kFewestNamed;
  const Point middle = {cell.x + cell.w / 2, cell.y + cell.h / 2};
  const std::string color = lift < kDark ? "ink" : "paper";
  const double up = has_room && owned ? cell.h / 5 : 0;
  if (owned) {
    picture.items.push_back(TextItem{.at = {middle.x, middle.y - up},
                                     .text = "★",
                                     .anchor = Anchor::middle,
                                     .fill = color,
                                     .bold = true});
  }
  if (!has_room) return;
  picture.items.push_back(TextItem{.at = {middle.x, middle.y + up},
                                   .text = fixed(lift, 2),
                                   .size = 9,
                                   .anchor = Anchor::middle,
                                   .fill = color});
}

/// Returns "8 heads, 4 relations; owners: 0.0 back3 (0.98), ...".
std::string owners_text(const HeadsReport& report) {
  std::vector<std::string> owners;
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    for (std::size_t h = 0; h < report.heads.size(); ++h) {
      if (!is_owner(report, h, r)) continue;
      owners.push_back(text(head_text(report.heads[h]), " ", report.relations[r].relation.name,
                            " (", fixed(report.heads[h].relations[r].lift, 2), ")"));
    }
  }
  return text("Lift of ", report.heads.size(), " heads on ", report.relations.size(),
              " relations; owners: ", owners.empty() ? "none" : join(owners, ", "), ".");
}

/// Moves an item down.
struct MoveDown {
  double by;
  void operator()(MapItem& item) const { item.box.y += by; }
  void operator()(RectItem& item) const { item.box.y += by; }
  void operator()(DotItem& item) const { item.at.y += by; }
  void operator()(TextItem& item) const { item.at.y += by; }
  void operator()(LineItem& item) const {
    for (Point& point : item.points) point.y += by;
  }
};

/// Adds a picture below another, after its letter.
void add_panel(Picture& picture, Picture panel, std::size_t place, const std::string& words) {
  picture.height += 8;
  picture.items.push_back(
      TextItem{.at = {4, picture.height + 6}, .text = text(panel_tag(place), " ", words)});
  picture.height += 20;
  for (Item& item : panel.items) {
    std::visit(MoveDown{picture.height}, item);
    picture.items.push_back(std::move(item));
  }
  picture.height += panel.height;
  picture.width = std::max(picture.width, panel.width);
  picture.sentence += " " + panel.sentence;
}

/// Returns how many heads share one name on an axis of this width, so that no name is cut.
std::size_t name_step(const AblationReport& report, double width) {
  constexpr double kBesideAxis = 80;
  constexpr double kBetween = 7;  // names
  double longest = 0;
  for (const HeadAblation& one : report.heads) {
    longest = std::max(longest, text_width(head_text(one.head)));
  }
  const double most = std::max(1.0, (width - kBesideAxis) / (longest + kBetween));
  return static_cast<std::size_t>(std::ceil(static_cast<double>(report.heads.size()) / most));
}

bool has_split(const HeadsReport& report) {
  return std::ranges::any_of(report.divisions, [](const Division& one) {
    return !one.by().empty() && !one.classes.empty();
  });
}

}  // namespace

Picture heads_figure(const HeadsReport& report, double width) {
  if (report.heads.empty() || report.relations.empty()) {
    throw Error(text("cannot draw heads by relations: there are no ",
                     report.heads.empty() ? "heads" : "relations"),
                "draw the patterns instead: `headlab pattern RUN --grid`");
  }
  const double room = width > 0 ? width : 640;
  const MatrixChart chart = lift_chart(report, room);
  Picture lifts;
  const MatrixPlaces places = draw_matrix(lifts, chart);
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    for (std::size_t r = 0; r < report.relations.size(); ++r) {
      const Box cell = places.cell(static_cast<Index>(h), static_cast<Index>(r));
      write_lift(lifts, cell, report.heads[h].relations[r].lift, is_owner(report, h, r));
    }
  }
  lifts.width = std::max(lifts.width, width);
  lifts.title = "Heads by relations";
  lifts.sentence = owners_text(report);
  if (!has_split(report)) return lifts;
  Picture both{.title = "Heads by relations, and how heads divide relations", .sentence = ""};
  add_panel(both, std::move(lifts), 0, "heads by relations");
  add_panel(both, divisions_figure(report, room), 1, "attention mass of each class, by head");
  both.sentence.erase(0, 1);
  return both;
}

Picture ablation_figure(const AblationReport& report, double width) {
  require(!report.heads.empty(), "cannot draw the ablation: the model has no heads");
  Series costs{.name = "", .line = false, .radius = 4};
  const auto count = static_cast<double>(report.heads.size());
  Plot plot{.x = {.label = "ablated head", .low = -0.5, .high = count - 0.5},
            .y = {.label = text("cost: change of the loss, nats (", name_of(report.options.kind),
                                "-ablation)")}};
  std::vector<std::string> said;
  const std::size_t step = name_step(report, width > 0 ? width : plot.width);
  for (const HeadAblation& one : report.heads) {
    const auto place = static_cast<double>(costs.samples.size());
    const PairedChange& change = one.change;
    costs.samples.push_back(with_interval(place, {change.change, change.low, change.high}));
    plot.x.ticks.push_back(place);
    const bool is_named = plot.x.names.size() % step == 0;
    plot.x.names.push_back(is_named ? head_text(one.head) : "");
    said.push_back(text(head_text(one.head), " ", significant(change.change)));
  }
  plot.series = {costs};
  explain_bars(plot.series);
  return plotted("Cost of each head",
                 text("Change of the held-out loss when a head is ablated, with "
                      "95% intervals: ",
                      join(said, ", "), "."),
                 {plot}, width);
}

}  // namespace headlab
