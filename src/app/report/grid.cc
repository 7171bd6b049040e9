// Overview of all heads, as a picture and for a terminal, and the figure of how heads split
// relations. Both overviews show the pattern of each head, its best relation and whether it owns
// it; removed heads keep their positions.
// Read next: figures.cc, the other figures; heatmap.h, how small maps share a screen.
#include <algorithm>
#include <cmath>

#include "app/report/chart.h"
#include "headlab/app/report/figures.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

constexpr double kGridWidth = 860, kMapSide = 110, kSmallestSide = 70, kGap = 8, kUnderMap = 38;
constexpr Index kAcross = 12;
constexpr double kName = 80;   // width of the names of classes, in the middle
constexpr double kApart = 10;  // between a bar and its name
constexpr const char* kGridLegend =
    "bar: attention on the truth of the relation; tick: what chance reaches; ★ owns the relation";

/// One head of the grid, present or removed.
struct GridCell {
  std::string name;
  const HeadPattern* pattern = nullptr;  // null: removed
  const HeadRole* role = nullptr;
};

ShadedWeights cell_map(const HeadPattern& pattern) {
  return shaded(pattern.weights, std::ssize(pattern.queries), std::ssize(pattern.keys));
}

void draw_bar(Picture& picture, const HeadRole& role, const Box& box) {
  picture.items.push_back(
      RectItem{{box.x, box.y, box.w * std::clamp(role.score.mass, 0.0, 1.0), box.h},
               {.fill = "s0"}});
  picture.items.push_back(RectItem{box, {.stroke = "edge"}});
  if (!std::isfinite(role.score.baseline)) return;
  const double x = box.x + box.w * std::clamp(role.score.baseline, 0.0, 1.0);
  const std::vector<Point> tick = {{x, box.y - 3}, {x, box.y + box.h + 3}};
  picture.items.push_back(LineItem{tick, {.stroke = "paper", .thick = 5}});
  picture.items.push_back(LineItem{tick, {.stroke = "ink", .thick = 2}});
}

void draw_cell(Picture& picture, const GridCell& cell, const Box& box) {
  const double right = box.x + box.w;
  const double bottom = box.y + box.h;
  std::string words = cell.name;
  if (cell.pattern == nullptr) {
    picture.items.push_back(LineItem{{{box.x, box.y}, {right, bottom}}, {.stroke = "edge"}});
    picture.items.push_back(LineItem{{{right, box.y}, {box.x, bottom}}, {.stroke = "edge"}});
    picture.items.push_back(RectItem{box, {.stroke = "edge", .dash = {3, 3}}});
    words += " removed";
  } else {
    const HeadPattern& pattern = *cell.pattern;
    picture.items.push_back(MapItem{box, std::ssize(pattern.queries), std::ssize(pattern.keys),
                                    cell_map(pattern).values});
    picture.items.push_back(RectItem{box, {.stroke = "edge"}});
  }
  const bool has_role = cell.role != nullptr && !cell.role->relation.empty();
  const bool owned = has_role && cell.role->owned;
  if (has_role) words += (owned ? " ★ " : " ") + cell.role->relation;
  picture.items.push_back(
      TextItem{.at = {box.x, bottom + 10}, .text = shortened(words, box.w), .bold = owned});
  if (has_role) draw_bar(picture, *cell.role, {box.x, bottom + 21, box.w, 6});
}

std::vector<GridCell> cells_of_layer(const TransformerConfig& config, Index layer,
                                     std::span<const HeadPattern> patterns,
                                     std::span<const HeadRole> roles) {
  std::vector<GridCell> cells;
  for (std::int32_t head = 0; head < config.heads_of(layer); ++head) {
    GridCell cell{.name = head_text({layer, head})};
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i].head == HeadId{layer, head}) {
        cell.pattern = &patterns[i];
        cell.role = i < roles.size() ? &roles[i] : nullptr;
      }
    }
    cells.push_back(cell);
  }
  return cells;
}

/// Returns "8 heads; 4 own a relation: 0.0 back3, ...".
std::string owners_sentence(const HeadsReport& report, std::span<const HeadRole> roles) {
  std::vector<std::string> owners;
  for (std::size_t h = 0; h < roles.size(); ++h) {
    if (roles[h].owned) owners.push_back(text(head_text(report.heads[h]), " ", roles[h].relation));
  }
  return text(report.heads.size(), " heads; ",
              owners.empty() ? "none owns a relation" : "own a relation: ", join(owners, ", "),
              ".");
}

/// Returns the lines below the grid.
std::vector<std::string> grid_legend(bool is_root, bool has_relations) {
  std::vector<std::string> lines;
  if (is_root) lines.emplace_back("shades: square root of attention, up to the largest of a map");
  if (has_relations) lines.emplace_back(kGridLegend);
  return lines;
}

std::string caption_of(const GridCell& cell) {
  if (cell.pattern == nullptr) return cell.name + " removed";
  if (cell.role == nullptr || !cell.role->owned) return cell.name;
  return text(cell.name, " ", cell.role->relation, "* ", fixed(cell.role->score.mass, 2));
}

}  // namespace

std::vector<HeadRole> roles_of(const HeadsReport& report) {
  std::vector<HeadRole> roles(report.heads.size());
  for (std::size_t h = 0; h < roles.size(); ++h) {
    for (std::size_t r = 0; r < report.relations.size(); ++r) {
      const RelationScore& score = report.heads[h].relations[r];
      const RelationWinner& winner = report.relations[r];
      const bool owned = std::string_view(report.role(h, r)) == "owner";
      const HeadRole& best = roles[h];
      const bool better = best.relation.empty() || owned > best.owned ||
                          (owned == best.owned && score.lift > best.score.lift);
      if (std::isfinite(score.lift) && better) roles[h] = {winner.relation.name, owned, score};
    }
  }
  return roles;
}

Picture grid_figure(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                    const HeadsReport& report, double width) {
  const std::vector<HeadRole> roles = roles_of(report);
  Picture picture{.width = width > 0 ? width : kGridWidth,
                  .title = "All heads",
                  .sentence = owners_sentence(report, roles)};
  Index across = 1;
  const auto most = static_cast<Index>((picture.width - 10) / (kSmallestSide + kGap));
  for (Index layer = 0; layer < std::ssize(report.attention); ++layer) {
    across = std::max(across, std::min({config.heads_of(layer), kAcross, most}));
  }
  const double side = std::min(kMapSide, (picture.width - 10) / double(across) - kGap);
  double y = 0;
  for (Index layer = 0; layer < std::ssize(report.attention); ++layer) {
    const auto cells = cells_of_layer(config, layer, patterns, roles);
    const std::string tag =
        report.attention.size() > 1 ? panel_tag(static_cast<std::size_t>(layer)) + " " : "";
    picture.items.push_back(
        TextItem{.at = {4, y + 10},
                 .text = text(tag, report.attention[layer], ": queries down, keys across")});
    for (Index i = 0; i < std::ssize(cells); ++i) {
      const Index row = i / across;
      const Index column = i % across;
      draw_cell(picture, cells[i],
                {4 + double(column) * (side + kGap), y + 22 + double(row) * (side + kUnderMap),
                 side, side});
    }
    const Index rows = (std::ssize(cells) + across - 1) / across;
    y += 22 + double(rows) * (side + kUnderMap);
  }
  const bool root = !patterns.empty() && cell_map(patterns[0]).root;
  draw_scale(picture, {4, y}, root ? "its largest" : "1", root);
  y += 20;
  for (const std::string& words : grid_legend(root, !report.relations.empty())) {
    y += draw_words(picture, {4, y + 8}, words, picture.width - 8);
  }
  picture.height = y + 6;
  return picture;
}

/// Throws an Error for a picture without items.
static void require_drawn(const Picture& picture) {
  if (!picture.items.empty()) return;
  throw Error("cannot draw the split: no relation is split by classes",
              "draw the pictures of `headlab pattern RUN` or `headlab history RUN` instead");
}

Picture divisions_figure(const HeadsReport& report, double width) {
  Picture picture{.width = width > 0 ? width : 640,
                  .title = "How heads divide relations",
                  .sentence = ""};
  std::vector<std::string> sentences;
  for (const Division& division : report.divisions) {
    if (division.by().empty() || division.classes.empty()) continue;
    sentences.push_back(report.sentence(division));
    const double wide = (picture.width - kName) / double(division.heads.size());
    const auto row = [&](const std::string& name, bool bold, const auto& draw) {
      picture.items.push_back(TextItem{.at = {wide + kName / 2, picture.height + kTextRow / 2},
                                       .text = shortened(name, kName - kApart),
                                       .anchor = Anchor::middle,
                                       .bold = bold});
      for (std::size_t h = 0; h < division.heads.size(); ++h) {
        draw(h,
             Box{double(h) * wide + (h > 0 ? kName : 0), picture.height, wide - kApart, kTextRow});
      }
      picture.height += kTextRow + 2;
    };
    row(report.relations[division.relation].relation.name, true,
        [&](std::size_t h, const Box& box) {
          picture.items.push_back(TextItem{.at = {h > 0 ? box.x : box.x + box.w, box.y + box.h / 2},
                                           .text = head_text(report.heads[division.heads[h]]),
                                           .anchor = h > 0 ? Anchor::start : Anchor::end});
        });
    for (const Division::Class& one : division.classes) {
      row(one.name, false, [&](std::size_t h, Box box) {
        const double mass = std::clamp(one.mass[h], 0.0, 1.0) * box.w;
        if (h == 0) box.x += box.w - mass;  // ends at the name, which is to its right
        box.w = mass;
        picture.items.push_back(RectItem{box, {.fill = text("s", h % 7)}});
      });
    }
  }
  require_drawn(picture);
  picture.sentence = join(sentences, ". ");
  return picture;
}

std::string grid_text(const TransformerConfig& config, std::span<const HeadPattern> patterns,
                      const HeadsReport& report) {
  const std::vector<HeadRole> roles = roles_of(report);
  std::vector<std::pair<std::string, std::vector<SmallMap>>> groups;
  for (Index layer = 0; layer < std::ssize(report.attention); ++layer) {
    auto& maps = groups.emplace_back(report.attention[layer], std::vector<SmallMap>{}).second;
    for (const GridCell& cell : cells_of_layer(config, layer, patterns, roles)) {
      SmallMap map{.caption = caption_of(cell)};
      if (cell.pattern != nullptr) {
        map.rows = std::ssize(cell.pattern->queries);
        map.columns = std::ssize(cell.pattern->keys);
        map.weights = cell.pattern->weights;
        map.queries = cell.pattern->queries;
      }
      maps.push_back(map);
    }
  }
  return small_maps(groups) + "* owns the relation, with this mass on its truth\n";
}

}  // namespace headlab
