// Tasks from files of sequences that a test writes: lines of JSON or arrays.
// Read next: sequences_test.cc; arrays_test.cc.
#pragma once

#include <memory>
#include <string>

#include "headlab/core/base/files.h"
#include "support/folders.h"
#include "tasks/checks.h"

namespace headlab {

inline const std::string kLine =
    R"({"tokens":["d","=","2","d"],"targets":[null,null,null,"2"],"truth":{"definition":{"3":[2]}}})";

class FromLines : public testing::Test {
 protected:
  std::string file_of(const std::string& name, const std::string& lines) const {
    const std::string path = (folder_.path() / name).string();
    write_file(path, lines);
    return path;
  }
  /// The task of a file that is all three of its parts.
  std::unique_ptr<Task> task_in(const std::string& name, const std::string& bytes) const {
    const std::string path = file_of(name, bytes);
    return make_task("file:train=" + path + ",held_out=" + path + ",test=" + path);
  }
  std::unique_ptr<Task> task_of(const std::string& lines) const {
    return task_in("all.jsonl", lines);
  }
  /// The message for a file whose second line is this.
  std::string said_of(const std::string& line) const {
    return error_of([&] { task_of(kLine + "\n" + line + "\n"); });
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace headlab
