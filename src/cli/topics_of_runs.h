// The topics of `headlab explain` whose numbers are those of a run. Private to the command line.
// Each opens the run that the call names behind the topic.
// Read next: topics.cc, the table of topics.
#pragma once

#include "cli/topics.h"

namespace headlab::cli {

Result attention_of_run(const Invocation& call, const TopicFlags& flags);
/// Of a run, or of sizes where the call names none.
Result explain_shapes(const Invocation& call, const TopicFlags& flags);
Result explain_output(const Invocation& call, const TopicFlags& flags);
Result diversity_of_run(const Invocation& call);

}  // namespace headlab::cli
