// Fixtures of tests about runs and programs that came from someone else: a program for the task
// `command`, and command lines that train with it. Read next: safety_test.cc, links_test.cc.
// Each test works in a folder of its own.
#pragma once

#include "cli/program.h"

namespace headlab::cli {

/// A shell program for the task `command`: it leaves `EXECUTED` in its folder and answers requests.
/// `before_answer` is run before each answer; $n counts the requests.
inline std::string answering(const std::string& before_answer = "") {
  return R"(touch EXECUTED
echo '{"header":{"vocabulary":["a","b"],"length":2,"relations":[{"name":"r"}]}}'
n=0
while read line; do
  n=$((n+1))
  )" + before_answer +
         R"(
  count=${line#*count\":}; count=${count%%,*}; i=0
  while [ $i -lt $count ]; do
    echo '{"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"1":[0]}}}'; i=$((i+1))
  done
done
)";
}

inline const Words kSmall =
    typed("--heads 1 --layers 1 --d-model 8 --d-ff 0 --batch 1 --eval-examples 2");

class Safety : public Program {
 protected:
  Words training(const std::string& task, const std::string& out, const Words& more = {}) const {
    return with(with({"train", "--task", task, "--out", out}, kSmall), more);
  }
  bool executed() const { return fs::remove(folder.path() / "EXECUTED"); }
  void write(const std::string& name, const std::string& text) const {
    write_file(folder.path() / name, text);
  }
  /// Waits up to three seconds until a process has ended.
  static bool has_ended(pid_t process) {
    for (int i = 0; i < 300 && kill(process, 0) == 0; ++i) usleep(10'000);
    return kill(process, 0) != 0;
  }
  pid_t pid_in(const std::string& name) const { return std::stoi(file(name)); }
};

}  // namespace headlab::cli
