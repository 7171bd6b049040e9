// The tour of `headlab start`: its examples, its two runs, and the sentences that follow each
// command, computed from the files that the command wrote.
// Read next: start.cc, which runs it; tour.cc.
#pragma once

#include "app/cli/commands.h"

namespace headlab::cli {

/// An example that the tour can show.
struct Plan {
  const char* name;
  const char* task;
  const char* settings;           // of its training
  const char* thorough;           // those with --thorough
  const char* story;              // the task, as told to a friend
  std::vector<Column> positions;  // of the table of `show`; columns without a value are left out
  Index kept, finetuned;          // heads left by pruning, and steps that follow it
};

/// Returns the example of this name. UsageError that lists the names if there is none.
const Plan& plan_of(const std::string& name);

/// Folders of the tour's two runs, and what it shows.
struct Tour {
  std::filesystem::path full;
  std::filesystem::path pruned;
  const Plan& plan;
  bool thorough;

  std::string task() const { return thorough ? plan.name : plan.task; }
  std::string settings() const { return thorough ? plan.thorough : plan.settings; }
  Index finetuned() const { return thorough ? 1000 : plan.finetuned; }
};

/// Return what a step has shown, as sentences.
std::string about_training(const Tour& tour);
std::string about_heads(const std::filesystem::path& run);
std::string about_ablation(const Tour& tour);
std::string about_pruning(const Tour& tour);
/// Returns what to do next, the path of the page, and the command that opens it.
std::string about_page(const Tour& tour);

}  // namespace headlab::cli
