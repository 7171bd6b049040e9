// Results with the command that reproduces them, and names of heads on a command line. A result
// holds JSON, the text for a terminal, and tables. Read next: store_result.cc, which stores results
// in the folder of a run.
#include <algorithm>

#include "app/cli/commands.h"

namespace headlab::cli {

Output output_of(const Result& result, const std::string& words) {
  const TonedText shown = toned_text_of(result, {.width = stdout_width()});
  return {.json = to_json(result), .text = shown + words, .tables = result.tables};
}

void add_fact(Output& output, const std::string& key, Json value) {
  const auto has_name = [&](const Table& table) {
    return table.name == key || table.name.starts_with(key + ".");
  };
  require(std::ranges::none_of(output.tables, has_name), "cannot write the result: the key ", key,
          " is also the name of a table");
  output.json[key] = std::move(value);
}

TonedText command_text(const std::string& command, const std::string& comment) {
  const std::string below = comment.empty() ? "\n" : "\n  # " + comment + "\n";
  return TonedText("command: " + command, Tone::command) + below;
}

Output reproducible(const Invocation& call, Output output, const std::string& comment) {
  add_fact(output, "command", call.again());
  output.text += command_text(call.again(), comment);
  return output;
}

Output reproducible(const Invocation& call, const Result& result, const std::string& words) {
  return reproducible(call, output_of(result, words.empty() ? "\n" : words));
}

Output reproducible(const Invocation& call, Json json, const std::string& words) {
  return reproducible(call, Output{.json = std::move(json), .text = words});
}

Output reproducible(const Invocation& call, Json json, std::vector<Table> tables,
                    const std::string& after, const std::string& before) {
  const TonedText shown = toned_text_of(Result{.tables = tables}, {.width = stdout_width()});
  return reproducible(call, Output{.json = std::move(json),
                                   .text = before + shown + after,
                                   .tables = std::move(tables)});
}

std::string examples_text(const Run& run, Index examples, Split split) {
  const Task& task = *run.task;
  const Index different = task.different(split);
  const std::string about = task.about_data();
  std::string said = text(examples, " held-out examples, the same in every call");
  if (different > 0) {
    const std::string share = examples == different ? "all " : "of ";
    said += text(" (", share, different, " different ones)");
  }
  if (!about.empty()) said += "\ndata: " + about;
  if (!run.other_task.empty()) said += text("\ntask: ", run.other_task, ", not the run's own");
  return said;
}

void require_known(const char* kind, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  as_usage([&] { throw unknown_name(kind, name, known); });
}

std::vector<HeadId> parse_heads(const std::string& flag, const std::string& names,
                                const Transformer& model) {
  std::vector<HeadId> heads;
  if (names.empty()) return heads;
  for (const std::string_view name : split(names, ',')) {
    heads.push_back(parse_head(flag, std::string(name), &model));
  }
  return heads;
}

/// Returns a whole number in decimal digits without leading zeros; none for any other text.
static std::optional<std::int32_t> index_of(const std::string& digits) {
  const bool plain = !digits.empty() && digits.size() < 10 &&
                     digits.find_first_not_of("0123456789") == digits.npos;
  if (!plain || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  return static_cast<std::int32_t>(std::stol(digits));
}

HeadId parse_head(const std::string& flag, const std::string& name, const Transformer* model) {
  // Strict, so that 0.01 is not taken for 0.1.
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::optional<std::int32_t> attention_layer = index_of(name.substr(0, dot));
  const std::optional<std::int32_t> head =
      dot < name.size() ? index_of(name.substr(dot + 1)) : attention_layer;
  if (dot == name.size() || !attention_layer || !head) {
    throw UsageError(text("cannot use ", flag, " ", name, ": expected LAYER.HEAD, such as 0.2"),
                     "list the heads with `headlab heads RUN`");
  }
  const HeadId id{*attention_layer, *head};
  if (model != nullptr) as_usage([&] { return slot_of(*model, id); });
  return id;
}

}  // namespace headlab::cli
