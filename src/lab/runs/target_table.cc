// The table of an evaluation: a row for each target. It is a file of its own because the framework,
// which evaluates, knows no tables.
// Read next: headlab/core/train/evaluate.h, run.cc.
#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"
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
  Fields<TargetScore> fields;
  fields.add(Column("name", "target", "what is predicted").no_legend(), &TargetScore::name);
  fields.add(Column("loss", "loss", "held out, in nats per target: 0 is perfect, ln V is guessing")
                 .mean_over("count"),
             &TargetScore::loss);
  fields.add(
      Column("accuracy", "accuracy", "share of targets that are right").fixed(4).mean_over("count"),
      &TargetScore::accuracy);
  fields.add(
      Column("count", "targets", "number of scored targets").shown_as(Form::grouped).no_legend(),
      &TargetScore::count);
  Table table = fields.table({.name = "targets"}, evaluation.targets);
  if (evaluation.targets.size() > 1) {
    table.note =
        text("all: loss ", significant(evaluation.loss), ", accuracy ",
             fixed(evaluation.accuracy, 4), " over ", grouped(evaluation.count), " targets");
  }
  return table;
}

}  // namespace headlab
