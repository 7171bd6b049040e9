// A pruning as two tables: the model before and after, and the time of a batch with heads masked
// and with heads removed. Times are in milliseconds; what is saved is a share of the time before.
// Read next: table.h.
#include "headlab/report/prune_text.h"

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {

std::string prune_text(const PruneResult& result) {
  Table table({"model", "heads", "loss", "accuracy", "parameters", "ms per batch"});
  const auto add = [&](const char* name, std::size_t heads, const ModelFigures& figures) {
    table.add({name, std::to_string(heads), significant(figures.loss), fixed(figures.accuracy, 4),
               grouped(figures.parameters), fixed(figures.ms_per_batch, 2)});
  };
  add("before", result.kept.size() + result.removed.size(), result.before);
  add("heads removed", result.kept.size(), result.removed_only);
  add("after", result.kept.size(), result.after);
  std::vector<std::string> kept;
  for (const HeadId& head : result.kept) kept.push_back(head_text(head));
  return table.text() + "kept heads: " + (kept.empty() ? "none" : join(kept, " ")) + "\n";
}

std::string timing_text(const std::vector<PruneTiming>& timing) {
  Table table({"batch", "full ms", "masked ms", "removed ms", "attention full", "attention removed",
               "saved of attention", "saved of all", "noise"});
  const auto saved = [](double before, double after) {
    return fixed(100 * (1 - after / before), 1) + "%";
  };
  for (const PruneTiming& row : timing) {
    table.add({std::to_string(row.batch), fixed(row.full, 3), fixed(row.masked, 3),
               fixed(row.removed, 3), fixed(row.attention_full, 3), fixed(row.attention_removed, 3),
               saved(row.attention_full, row.attention_removed), saved(row.full, row.removed),
               fixed(100 * row.noise, 1) + "%"});
  }
  return table.text();
}

}  // namespace headlab
