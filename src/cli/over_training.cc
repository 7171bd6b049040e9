// `headlab heads RUN --over-training`: when the role of each head was born. Reads what
// `headlab train --track-heads` wrote; no model runs. Read next: heads/tracking.h, which knows what
// a birth is.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/report/history_text.h"

namespace headlab::cli {

int show_heads_over_training(const Run& run, bool json, Arguments arguments) {
  const HeadsHistory history = read_heads_history(run);
  const std::string command = again("heads", arguments);
  if (json) {
    Json object = history;
    object["command"] = command;
    print(object);
  } else {
    print(text(history_text(history), "\nagain: ", command, "\n"));
  }
  return 0;
}

}  // namespace headlab::cli
