// The tasks over which tests walk, and one whose splits differ so much that what is best on one is
// not best on another: for what chooses on one split and judges on the other.
#pragma once

#include <memory>

#include <string_view>
#include <vector>

#include "headlab/core/tasks/table.h"

namespace headlab {

/// The tasks that can be made without parameters: all but those that need a program or a file.
inline std::vector<TaskEntry> complete_tasks() {
  std::vector<TaskEntry> all(task_table().begin(), task_table().end());
  std::erase_if(all, [](const TaskEntry& entry) {
    return std::string_view(entry.name) == "command" || std::string_view(entry.name) == "tokens";
  });
  return all;
}

/// Another task in everything but its examples.
class TaskAround : public Task {
 public:
  explicit TaskAround(const Task& task) : task_(task) {}
  std::string spec() const override { return task_.spec(); }
  TaskShape shape() const override { return task_.shape(); }
  std::vector<Relation> relations() const override { return task_.relations(); }
  std::vector<std::string> target_names() const override { return task_.target_names(); }
  std::string token_text(std::int32_t token) const override { return task_.token_text(token); }

 protected:
  const Task& task_;
};

/// `on_train` for training, `elsewhere` for all other splits; both draw as for training.
class TaskBySplit : public TaskAround {
 public:
  TaskBySplit(std::shared_ptr<const Task> on_train, std::shared_ptr<const Task> elsewhere)
      : TaskAround(*on_train), on_train_(std::move(on_train)), elsewhere_(std::move(elsewhere)) {}
  Example make(Key key, Index count, Split split) const override {
    return (split == Split::train ? *on_train_ : *elsewhere_).make(key, count, Split::train);
  }

 private:
  std::shared_ptr<const Task> on_train_, elsewhere_;
};

/// A task with half of its tokens alone, in the opposite order, and with other answers.
class Mirrored : public TaskBySplit {
 public:
  explicit Mirrored(const std::shared_ptr<const Task>& task) : TaskBySplit(task, task) {}
  Example make(Key key, Index count, Split split) const override {
    asked += count;
    Example example = TaskBySplit::make(key, count, split);
    const auto vocab = static_cast<std::int32_t>(shape().vocab);
    for (std::int32_t& token : example.batch.tokens) token = (vocab - 1 - token) / 2;
    for (auto& target : example.batch.targets) target = target < 0 ? target : (target + 2) % vocab;
    return example;
  }
  mutable Index asked = 0;  // examples
};

}  // namespace headlab
