// The topics of `headlab explain`: attention on small sentences, on random numbers, on one's own
// and on runs, step by step. A topic is a function and a row of the table in topics.cc. Read next:
// report/lessons_text.h, which shows what they compute.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"

namespace headlab::cli {

/// The flags of all topics; a topic refuses those that say nothing to it.
struct TopicFlags {
  Index heads = 0, d_model = 0, length = 0, batch = 2, seed = 0, example = 0, seeds = 20;
  std::string query, head, file;

  Settings settings();
};

struct Topic {
  const char* name;
  const char* summary;
  const char* takes;  // "", "RUN" or "[RUN]"
  const char* flags;  // that say something to it, with blanks between and around: " heads query "
  Result (*explain)(const Invocation& call, const TopicFlags& flags);
};
std::span<const Topic> topics();

/// The topic's result. UsageError: a flag that says nothing to it, a run that it lacks or does not
/// take.
Result explain_topic(const Topic& topic, const Invocation& call, const TopicFlags& flags);

}  // namespace headlab::cli
