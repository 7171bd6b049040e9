// `headlab completion`: the completion of shells. The script of a shell calls `completion words
// LINE`; answers come from the tables of commands and flags, and for their values from
// completion_values.cc. Read next: completion.h.
#include <algorithm>

#include "app/cli/completion.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli {
namespace {

/// Script for bash. bash splits a word at : and =, and replaces only the part after the last of
/// them. It inserts words unchanged, so each is quoted first: a folder's name may contain any
/// character. Words that are already quoted are left to bash's own completion of files.
constexpr const char* kBash = R"(_headlab() {
  local line="${COMP_LINE:0:COMP_POINT}" word
  local last="${line##* }"
  COMPREPLY=()
  [[ ${COMP_WORDS[COMP_CWORD]} == *[\\\'\"\$\`]* ]] && return
  while IFS= read -r word; do
    [[ $last == *[:=]* ]] && word="${word#"${last%"${last##*[:=]}"}"}"
    [[ $word == *[!A-Za-z0-9_./,:=@%+-]* ]] && printf -v word %q "$word"
    [[ -n $word ]] && COMPREPLY+=("$word")
  done < <(headlab completion words "$line" 2>/dev/null)
}
complete -o default -F _headlab headlab
)";
/// Scripts for zsh and fish, which quote the words that they insert: compadd without -Q, and
/// complete -a.
constexpr const char* kZsh = R"zsh(#compdef headlab
_headlab() {
  local -a found
  found=(${(f)"$(headlab completion words "${(j: :)words[1,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _headlab ]]; then _headlab "$@"; else compdef _headlab headlab; fi
)zsh";
constexpr const char* kFish =
    "complete -c headlab -a '(headlab completion words (commandline -cp | string collect))'\n";

/// Returns the possible next words after the words `before` of a command line.
Words candidates(const Words& before, const std::string& begun) {
  if (before.empty()) return texts_of(commands(), &Command::name);
  const auto command = std::ranges::find(commands(), before[0], &Command::name);
  if (command == commands().end()) return {};
  const HelpWanted help = help_of(*command);
  Words flags;
  for (const Setting& setting : help.flags) {
    flags.push_back(flag_of(setting.name));
    const ValueKind kind = help.kinds.at(setting.name);
    if (flags.back() == before.back() && kind != ValueKind::on_off) {
      return values_of_flag(setting, kind, before, begun);
    }
  }
  if (begun.starts_with('-')) return flags;
  Words all;
  for (const Positional& argument : command->positionals) {
    for (const std::string& value : values_of_argument(argument, before, begun)) {
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
    }
  }
  return all;
}

/// Returns one line per completion of the last word of `line`; in --flag=a,b only b is completed.
std::string endings(const std::string& line) {
  Words before = texts_of(split(line, ' '), std::identity());
  std::string begun = before.back(), kept;
  before.pop_back();
  std::erase(before, "");
  if (!before.empty()) before.erase(before.begin());  // the program
  if (const std::size_t equals = begun.find('='); begun.starts_with("--") && equals != begun.npos) {
    before.push_back(begun.substr(0, equals));
    kept = begun.substr(0, equals + 1);
  }
  std::string found;
  for (const std::size_t from : {kept.size(), std::max(kept.size(), begun.rfind(',') + 1)}) {
    const std::string open = begun.substr(from);
    for (const std::string& word : found.empty() ? candidates(before, open) : Words{}) {
      if (word.starts_with(open)) found += begun.substr(0, from) + word + "\n";
    }
  }
  return found;
}

/// Returns the script for a shell, or the completions of a line.
std::string answer_to(const std::string& what, const std::string& line) {
  if (what == "bash") return kBash;
  if (what == "zsh") return kZsh;
  if (what == "fish") return kFish;
  return endings(line);
}

}  // namespace

Output completion(Invocation& call) {
  call.read({});
  const std::string& what = call.positionals()[0];
  const std::string line = call.positionals().size() > 1 ? call.positionals()[1] : "headlab ";
  require_known("shell", what, {"bash", "zsh", "fish", "words"});
  const std::string said = answer_to(what, line);
  return {.json = stamped({{what, said}}), .text = said, .quotes_data = true};
}

}  // namespace headlab::cli
