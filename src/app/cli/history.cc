// `headlab history`: the best score on each relation over training, and the emergence step of its
// role. Reads the scores stored by `train --track-heads`; the model itself is not needed. Read
// next: lab/heads/scores/tracking.h.
#include "app/cli/commands.h"

namespace headlab::cli {

Output history(Invocation& call) {
  PictureFlags picture;
  Flags settings;
  picture.add_to(settings);
  call.read(settings, call.out_setting(true));
  picture.units();
  const Run run = open_run(call.positionals()[0]);
  const HeadsHistory history = read_heads_history(run);
  return with_picture(call, picture, store_result(call, run, result_of(history), "", ""),
                      [&](double units) {
                        return history_figure(for_reader(history, run.config.task), units);
                      });
}

}  // namespace headlab::cli
