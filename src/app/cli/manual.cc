// Writes the man page: NAME, SYNOPSIS, DESCRIPTION, COMMANDS, OPTIONS, EXAMPLES, FILES and EXIT
// STATUS. Paragraphs are filled by troff, so that they fit terminals of any width. See man(7) for
// the macros.
#include "app/cli/manual.h"

#include "app/cli/commands.h"
#include "app/report/findings.h"

namespace headlab::cli {
namespace {

/// Returns a text as troff reads it: backslashes and hyphens escaped, and no line that begins with
/// a control character.
std::string escaped(std::string_view said) {
  std::string safe;
  for (const char c : said) {
    const bool begins_line = safe.empty() || safe.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// Returns `said` in bold.
std::string bold(std::string_view said) { return text("\\fB", escaped(said), "\\fR"); }

/// Returns a paragraph with a term before it.
std::string item(const std::string& term, std::string_view meaning) {
  return text(".TP\n", term, "\n", escaped(meaning), "\n");
}

/// Returns a flag with its value: --d-model N, the flag in bold.
std::string flag_item(const FlagHelp& help) {
  const std::size_t space = help.flag.find(' ');
  std::string term = bold(help.flag.substr(0, space));
  if (space != help.flag.npos) term += text(" \\fI", escaped(help.flag.substr(space + 1)), "\\fR");
  return item(term, help.meaning);
}

std::string synopsis_of(const Command& command) {
  std::string line = bold(text("headlab ", command.name));
  if (!command.positionals.empty()) line += " " + escaped(command.positionals);
  return line + " [flags]";
}

std::string commands_section() {
  std::string page = ".SH COMMANDS\n";
  const char* group = "";
  for (const Command& command : commands()) {
    if (command.want != group) page += text(".SS \"", escaped(command.want), "\"\n");
    group = command.want;
    page += item(bold(command.name), command.summary);
  }
  return page;
}

std::string options_section() {
  std::string page = ".SH OPTIONS\n.SS \"All commands\"\n";
  CommonFlags common;
  for (const FlagHelp& help : flags_of(common.settings(true).all(), {})) page += flag_item(help);
  page += item(bold("--version"), "print the version and how it was built");
  for (const Command& command : commands()) {
    const HelpWanted help = help_of(command);
    page += text(".SS \"headlab ", escaped(command.name), "\"\n", synopsis_of(command), "\n.PP\n",
                 escaped(command.summary), "\n");
    for (const FlagGroupHelp& flags : help.groups) {
      if (!flags.title.empty()) page += text(".PP\n\\fI", escaped(flags.title), "\\fR\n");
      for (const FlagHelp& flag : flags.flags) page += flag_item(flag);
    }
  }
  return page;
}

std::string examples_section() {
  std::string page = ".SH EXAMPLES\n";
  for (const Command& command : commands()) {
    page += item(escaped(command.example), command.summary);
  }
  return page;
}

std::string files_section() {
  std::string page = ".SH FILES\nA run is a folder with these files; JSON and NumPy read them.\n";
  for (const ResultEntry& entry : result_table()) {
    if (entry.is_file()) page += item(bold(entry.name), entry.meaning);
  }
  return page;
}

std::string exit_status_section() {
  return text(".SH EXIT STATUS\n", item("0", "the command did what it was asked"),
              item("1", "it could not be done; the last lines on stderr say why"),
              item("2", "the command line is wrong"), item("130", "interrupted"), ".PP\nWith ",
              bold("--json"),
              " a failure is an object {\"error\", \"hint\", \"status\"} on stdout.\n");
}

}  // namespace

std::string manual() {
  std::string page = text(".TH HEADLAB 1 \"\" \"headlab ", version(), "\"\n");
  page += ".SH NAME\nheadlab \\- a laboratory for attention heads\n";
  page += text(".SH SYNOPSIS\n", bold("headlab"), " \\fICOMMAND\\fR [arguments] [flags]\n.br\n",
               bold("headlab"), " \\fICOMMAND\\fR ", bold("--help"), "\n");
  page +=
      text(".SH DESCRIPTION\n",
           escaped("Trains toy transformers on tasks whose answer is known, shows what each "
                   "attention head does, measures what it costs to remove it, and removes the "
                   "heads that do nothing. A model lives in a folder, a run; every other command "
                   "reads it and keeps what it finds there. `headlab start` is a tour."),
           "\n");
  page += commands_section();
  page += options_section();
  page += examples_section();
  page += files_section();
  page += exit_status_section();
  return page;
}

}  // namespace headlab::cli
