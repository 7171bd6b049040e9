// The table of an evaluation: a row for each target. It is a file of its own because the framework,
// which evaluates, knows no tables.
// Read next: headlab/core/train/evaluate.h, run.cc.
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

Json to_json(const TargetScore& score) {
  return Json::object({{"name", score.name},
                       {"loss", score.loss},
                       {"accuracy", score.accuracy},
                       {"count", score.count}});
}

Table target_table(const Evaluation& evaluation) {
  Table table{
      "targets",
      {Column("name", "target", "what is predicted").no_legend(),
       Column("loss", "loss", "held out, in nats per target: 0 is perfect, ln V is guessing")
           .mean_over("count"),
       Column("accuracy", "accuracy", "share of targets that are right")
           .fixed(4)
           .mean_over("count"),
       Column("count", "targets", "number of scored targets").shown_as(Form::grouped).no_legend()}};
  for (const TargetScore& target : evaluation.targets) {
    table.rows.push_back({target.name, target.loss, target.accuracy, target.count});
  }
  if (evaluation.targets.size() > 1) {
    table.note =
        text("all: loss ", significant(evaluation.loss), ", accuracy ",
             fixed(evaluation.accuracy, 4), " over ", grouped(evaluation.count), " targets");
  }
  return table;
}

}  // namespace headlab
