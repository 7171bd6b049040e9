// The file is written before anything is printed: what a user has seen is there. The model is never
// touched, so a finding is no part of the run itself, and training on leaves it behind as it was.
// Read next: findings.h.
#include "cli/findings.h"

#include <sstream>

#include "headlab/base/files.h"

namespace headlab::cli {

int keep(const Run& run, Finding finding, const std::string& command, const CommonFlags& common) {
  finding.json["command"] = command;
  write_file(run.path / finding.file, finding.json.dump(2) + "\n");
  if (common.json)
    print(finding.json);
  else
    print(finding.text + "\n" + finding.settings + "\nagain: " + command + "\n");
  return 0;
}

HeadId parse_head(const std::string& flag, const std::string& name) {
  HeadId id;
  char dot = 0, rest = 0;
  std::istringstream in(name);
  if (!(in >> id.layer >> dot >> id.head) || dot != '.' || (in >> rest)) {
    throw UsageError(text(flag, " ", name, ": a head is LAYER.HEAD, such as 0.2"),
                     "`headlab heads RUN` lists them");
  }
  return id;
}

}  // namespace headlab::cli
