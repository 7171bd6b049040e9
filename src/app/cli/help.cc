// The help of a command: its example, its purpose and its flags. If a command marks usual flags,
// --help shows these, and --help all shows the others as well.
// Read next: flags.cc; usual_flags.cc.
#include <algorithm>

#include "app/cli/commands.h"

namespace headlab::cli {

HelpWanted Invocation::help(const std::string& more) const {
  std::string usage = text("usage: headlab ", command_.name);
  for (const Positional& argument : command_.positionals) usage += " " + argument_form(argument);
  std::string common = "--json";
  if (has_tables(command_)) common += " --csv --latex --table";
  const bool is_short = !settings_.usual.empty() && !wants_full_help();
  std::string flags = flags_help(settings_);
  if (is_short) {
    const std::size_t common_flags = std::ranges::count_if(settings_.names(), is_common);
    const std::size_t left_out = settings_.names().size() - common_flags - settings_.usual.size();
    flags = text(usual_flags_help(settings_), "\n", left_out, " more: headlab ", command_.name,
                 " --help all\n");
  }
  HelpWanted wanted{.text =
                        text("example: ", command_.example, "\n\n", command_.summary, "\n\n", usage,
                             " [flags]\n", flags, more, "\ncommon flags (headlab --help): ", common,
                             " --quiet --threads\n"),
                    .flags = settings_.all(),
                    .groups = flag_groups(settings_)};
  for (const Setting& flag : wanted.flags) wanted.kinds[flag.name] = settings_.kind_of(flag);
  return wanted;
}

}  // namespace headlab::cli
