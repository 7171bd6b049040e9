// `headlab check`: every gradient against central differences. The program computes in float, whose
// rounding would drown them, so the checks run in double, in a library of their own. Read next:
// check_f64.cc.
#include "cli/check.h"

#include "cli/commands.h"
#include "headlab/report/columns.h"

namespace headlab::cli {

Json to_json(const CheckRow& row) {
  return Json::object({{"op", row.op},
                       {"case", row.description},
                       {"elements", row.elements},
                       {"worst_error", row.worst_error},
                       {"passed", row.passed}});
}

Result check(Invocation& call) {
  call.read({});
  Texts table({"op", "case", "elements", "worst error", "verdict"});
  const std::vector<CheckRow> rows = gradient_checks();
  bool passed = true;
  for (const CheckRow& row : rows) {
    passed = passed && row.passed;
    table.add({row.op, row.description, std::to_string(row.elements), significant(row.worst_error),
               row.passed ? "ok" : "FAILED"});
    if (!row.passed) note(row.text);
  }
  return {.json = stamped({{"passed", passed}, {"checks", rows}}),
          .text = table.to_string() + legend("check"),
          .status = passed ? 0 : 1};
}

}  // namespace headlab::cli
