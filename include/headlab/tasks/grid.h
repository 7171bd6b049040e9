// Grid: a small image, read row by row by an encoder. Brightness is random, but some pixels are
// hidden (?), and theirs follows from two others, left and above, which are never hidden: the mean
// of left and the negative of above, (left + colors - 1 - above) / 2, rounded down; with rule=mean
// the mean of left and above.
// Truth: `left` and `above`, asked at hidden pixels: offsets 1 and `width`. Colours are drawn
// independently, so nothing else tells a hidden pixel, and both keys are needed in one query.
// Trap: rule=mean does not care which is which. One head that gives each of them one half is
// enough then, and owns both relations with a mass of .42 to .46; the contrast takes two heads.
// Five seeds: accuracy 1.000, mass .998 to 1.000 for both. One head: accuracy .22 to .54.
// Read next: src/tasks/grid.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

enum class GridRule { contrast, mean };

struct GridOptions {
  Index width = 6;
  Index height = 6;
  Index colors = 8;
  GridRule rule = GridRule::contrast;
};
Settings settings_of(GridOptions& options);

class GridTask : public Task {
 public:
  using Options = GridOptions;
  explicit GridTask(const GridOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return options_.rule == GridRule::mean ? 1 : 2; }
  std::vector<std::string> target_names() const override { return {"hidden"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  GridOptions options_;
};

}  // namespace headlab
