// The file is written before anything is printed: what a user has seen is there. The model is never
// touched, so a finding is no part of the run itself, and training on leaves it behind as it was.
// Read next: findings.h.
#include "cli/findings.h"

#include "headlab/base/files.h"

namespace headlab::cli {

int keep(const Run& run, Finding finding, const std::string& command, const CommonFlags& common) {
  finding.json["command"] = command;
  write_file(run.path / finding.file, finding.json.dump(2) + "\n");
  if (common.json) {
    print(finding.json);
  } else {
    print(finding.text + "\n" + finding.settings + "\nagain: " + command + "\n");
  }
  return 0;
}

}  // namespace headlab::cli
