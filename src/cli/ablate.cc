// `headlab ablate`: what the loss becomes when heads are silenced. A pattern shows where a head
// looks; this shows whether it matters. The run's model is only read; the result is written beside
// it. Read next: heads/ablation.h.
#include "headlab/heads/ablation.h"

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/files.h"
#include "headlab/report/causes_text.h"

namespace headlab::cli {
namespace {

struct AblateFlags {
  std::string kind = "zero";
  Index examples = 512;
  std::int64_t seed = 0;
  CommonFlags common;

  Settings settings() {
    std::vector<std::string> kinds;
    for (const AblationEntry& entry : ablation_table()) {
      kinds.emplace_back(entry.name);
    }
    Settings s;
    s.add(named_text("kind", join(kinds, "|"), kind,
                     "what takes the place of a head's output: 0, its mean, or that of another "
                     "example"));
    s.integer("examples", examples, 30, 1 << 24, "held-out examples");
    s.integer("seed", seed, 0, std::int64_t{1} << 53, "of what resample draws");
    s.add(common.settings());
    return s;
  }
};

}  // namespace

int ablate_command(Arguments arguments) {
  AblateFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) {
    return print_help("ablate", "RUN", settings);
  }
  const auto paths = parse_arguments(arguments, signature_of("ablate", {"RUN"}), settings);
  const AblationOptions options{.kind = as_usage([&] { return find_ablation(flags.kind); }),
                                .seed = flags.seed};
  flags.common.apply();
  const Run run = open_run(paths[0]);
  const Example held_out = held_out_examples(*run.task, flags.examples);
  const AblationReport report = ablate_heads(run.model, held_out.batch, options);
  const std::string command = again("ablate", arguments);
  Json json = report.to_json();
  json["command"] = command;
  write_file(run.path / "ablation.json", json.dump(2) + "\n");
  if (flags.common.json) {
    print(json);
  } else {
    print(ablation_text(report, {.color = stdout_wants_color()}));
    print(text("\nkind ", flags.kind, ", ", flags.examples,
               " held-out examples, the same every time; seed ", flags.seed, "\nagain: ", command,
               "\n"));
  }
  return 0;
}

}  // namespace headlab::cli
