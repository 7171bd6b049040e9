// Hints for command lines that mean something else: the command, flag, run or list that was meant,
// as a command line that can be typed. To add a word that people use for a command, extend a row in
// advice.cc. Private to this layer. Read next: mistaken_words.cc and program.cc, which give the
// hints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/cli/commands.h"

namespace headlab::cli {

/// Words that people use for a command.
struct OtherNames {
  std::string command;
  std::vector<std::string> words;
};
std::span<const OtherNames> other_names();

/// Returns the command that people mean by `word`, such as page for plot; nullptr if none is known.
const Command* command_meant_by(const std::string& word);

/// Returns the first command that has this flag, such as pattern for --head; nullptr if none has.
const Command* command_with_flag(const std::string& flag);

/// Returns the call of a command with its first argument: "headlab pattern RUN".
std::string call_of(const Command& command);

/// Returns the call that does something useful with an existing run, a known task or the name of a
/// list that was typed in place of a command; "" for any other word.
std::string call_for_word(const std::string& word);

/// Returns the list with each range written out: "1-3,8" as "1,2,3,8" and "0.1-0.3" as
/// "0.1,0.2,0.3". A range is joined by -, .., : or to. Returns "" if the list has no range, or one
/// of more than 32 numbers.
std::string without_ranges(const std::string& list);

/// Returns whether a part of the list is a range.
bool has_range(const std::string& list);

/// Returns the first folders of runs in `folder`, up to two levels below it, in alphabetical order.
/// If the path lies inside a run, returns that run.
std::vector<std::string> runs_near(const std::filesystem::path& folder);

/// Returns the tokens of a text that was typed as the value of `flag`. UsageError with the text
/// that would be right if only spaces between tokens are missing; errors of Task::encode.
std::vector<std::int32_t> typed_tokens(const Task& task, const std::string& flag,
                                       const std::string& words);

}  // namespace headlab::cli
