// Hints for command lines that mean something else. Words that people use for a command are a row
// of a table, each word once. Ranges, folders of runs and tokens without spaces are recognised by
// functions below. See advice.h.
#include "app/cli/advice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// Without hyphens and in small letters, as words are compared.
const std::vector<OtherNames> kOtherNames = {
    {"start",
     {"tour", "demo", "tutorial", "intro", "introduction", "begin", "hello", "quickstart", "quick",
      "init", "guide", "try"}},
    {"train",
     {"fit", "learn", "teach", "finetune", "pretrain", "retrain", "resume", "continue", "optimize",
      "optimise", "training", "new", "create", "make", "build", "run", "go", "execute",
      "finetuning"}},
    {"eval",
     {"evaluate", "evaluation", "test", "validate", "validation", "score", "accuracy", "loss",
      "check", "measure", "metric", "metrics", "verify", "assess", "perplexity"}},
    {"sample",
     {"generate", "generation", "predict", "prediction", "infer", "inference", "complete", "write",
      "chat", "talk", "prompt", "ask", "decode", "answer", "translate"}},
    {"sweep",
     {"grid", "search", "gridsearch", "tune", "scan", "hyperparameters", "experiment",
      "experiments", "vary", "study"}},
    {"compare",
     {"diff", "difference", "versus", "vs", "contrast", "ttest", "significance", "statistics",
      "stats", "comparison", "correlate"}},
    {"runs",
     {"ls", "dir", "status", "info", "models", "folder", "overview", "summary", "summarize",
      "summarise", "find", "listruns"}},
    {"import", {"load", "download", "read", "get", "fetch", "pull", "huggingface", "hf"}},
    {"export", {"save", "dump", "convert", "store"}},
    {"bench",
     {"benchmark", "speed", "time", "timing", "profile", "perf", "performance", "throughput",
      "latency"}},
    {"show",
     {"example", "examples", "task", "data", "dataset", "datasets", "print", "cat", "preview",
      "describe"}},
    {"heads",
     {"head", "roles", "role", "owner", "owners", "specialisation", "specialization", "analyse",
      "analyze", "analysis", "inspect", "interpret", "examine", "rank", "detect", "identify",
      "discover"}},
    {"pattern",
     {"patterns", "attention", "weights", "map", "maps", "heatmap", "attend", "matrix", "matrices",
      "attn", "attentions", "highlight"}},
    {"history",
     {"log", "logs", "timeline", "emergence", "progress", "track", "evolution", "learningcurve",
      "watch", "monitor"}},
    {"page", {"plot",        "visualize", "visualise",  "visualization", "visualisation",
              "viz",         "vis",       "view",       "draw",          "graph",
              "chart",       "figure",    "picture",    "image",         "render",
              "html",        "report",    "dashboard",  "open",          "display",
              "serve",       "ui",        "gui",        "web",           "browser",
              "browse",      "webpage",   "website",    "publish",       "share",
              "see",         "look",      "playground", "explore",       "interact",
              "interactive", "animate"}},
    {"explain",
     {"define", "definition", "meaning", "glossary", "doc", "docs", "man", "manual", "what", "why",
      "how", "term", "terms", "lesson", "lessons"}},
    {"list", {"options", "available"}},
    {"completion", {"autocomplete", "completions", "tab"}},
    {"cost",
     {"flops", "memory", "size", "params", "parameters", "count", "compute", "complexity",
      "estimate"}},
    {"ablate",
     {"ablation", "knockout", "silence", "zero", "disable", "mask", "lesion", "intervene",
      "intervention", "turnoff", "switchoff", "mute", "suppress", "kill", "erase"}},
    {"circuits", {"circuit", "qk", "ov", "composition"}},
    {"patch",
     {"patching", "activationpatching", "trace", "tracing", "causaltracing", "causal", "swap",
      "restore"}},
    {"attribute",
     {"attribution", "dla", "saliency", "importance", "contribution", "contributions", "blame"}},
    {"lens", {"logitlens", "probe"}},
    {"rollout", {"flow", "attentionrollout", "attentionflow"}},
    {"edges", {"edge"}},
    {"prune",
     {"remove", "rm", "delete", "compress", "shrink", "cut", "trim", "reduce", "drop", "pruning",
      "thin", "slim", "sparsify"}},
    {"curve", {"pareto", "tradeoff", "subset", "subsets", "bestsubset", "pruningcurve"}},
};

/// Returns a word in small letters without hyphens.
std::string without_hyphens(const std::string& word) {
  std::string plain;
  for (const char letter : word) {
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    if (letter != '-' && letter != '_') {
      plain += is_capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  return plain;
}

/// The ends of a range: 1 and 8 of "1-8". Ends of heads have a layer: 0 of "0.1-0.3".
struct Range {
  std::string layer{};  // with its dot; "" for numbers
  std::int64_t first = 0, last = 0;

  std::int64_t size() const { return std::abs(last - first) + 1; }
};

/// Returns a whole number of at most 9 digits; nothing for any other text.
std::optional<std::int64_t> whole_number(std::string_view digits) {
  const bool is_number = !digits.empty() && digits.size() < 10 &&
                         digits.find_first_not_of("0123456789") == digits.npos;
  if (!is_number) return {};
  return std::stoll(std::string(digits));
}

/// Returns the layer with its dot, and the number after it.
std::pair<std::string, std::string_view> split_at_dot(std::string_view end) {
  const std::size_t dot = end.find('.');
  if (dot == end.npos) return {"", end};
  return {std::string(end.substr(0, dot + 1)), end.substr(dot + 1)};
}

std::optional<Range> range_of(std::string_view part) {
  const std::size_t begin_at = std::min(part.find_first_not_of("{[("), part.size());
  part = part.substr(begin_at, part.find_last_not_of("}])") + 1 - begin_at);
  for (const std::string_view joint : {"...", "..", "\u2013", "-", ":", "to"}) {
    const std::size_t at = part.find(joint);
    if (at == part.npos) continue;
    const auto [layer, first] = split_at_dot(part.substr(0, at));
    const auto [last_layer, last] = split_at_dot(part.substr(at + joint.size()));
    const std::optional<std::int64_t> begin = whole_number(first);
    const std::optional<std::int64_t> end = whole_number(last);
    const bool is_one_layer = layer == last_layer || last_layer.empty();
    if (begin && end && is_one_layer) return Range{layer, *begin, *end};
  }
  return {};
}

/// Returns the characters of a text with a space between them.
std::string with_spaces(const std::string& words) {
  std::vector<std::string> characters = characters_of(words);
  std::erase(characters, " ");
  return join(characters, " ");
}

bool is_encoded(const Task& task, const std::string& words) {
  try {
    task.encode(words);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored) &&
         fs::exists(folder / "model.safetensors", ignored);
}

/// Returns the folders in a folder, in alphabetical order; none if it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
  constexpr std::size_t kMost = 1000;  // of entries that are looked at
  std::vector<fs::path> found;
  std::error_code failed, ignored;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end && count < kMost;
       at.increment(failed), ++count) {
    if (at->is_directory(ignored)) found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::span<const OtherNames> other_names() { return kOtherNames; }

const Command* command_meant_by(const std::string& word) {
  const std::string plain = without_hyphens(word);
  for (const OtherNames& row : kOtherNames) {
    if (std::ranges::count(row.words, plain) > 0) return &find_command(row.command);
  }
  return nullptr;
}

const Command* command_with_flag(const std::string& flag) {
  const std::vector<std::string> meant_most_often = {"train", "pattern", "prune"};
  for (const std::string& first : meant_most_often) {
    const Command& command = find_command(first);
    const std::vector<Setting> flags = help_of(command).flags;
    if (std::ranges::count(texts_of(flags, &Setting::name), flag) > 0) return &command;
  }
  for (const Command& command : commands()) {
    const std::vector<Setting> flags = help_of(command).flags;
    if (std::ranges::count(texts_of(flags, &Setting::name), flag) > 0) return &command;
  }
  return nullptr;
}

std::string call_of(const Command& command) {
  const std::string call = text(program_call(), " ", command.name);
  if (command.positionals.empty()) return call;
  const Positional& first = command.positionals[0];
  if (first.names.empty()) return text(call, " ", first.choices[0]);
  return text(call, " ", first.names[0].name);
}

std::string call_for_word(const std::string& word) {
  if (is_run(word)) return text(program_call(), " page ", shell_word(word));
  const bool is_list = std::ranges::count(list_names(), word) > 0;
  if (is_list) return text(program_call(), " list ", word);
  const std::string task = word.substr(0, word.find(':'));
  const bool is_task = std::ranges::count(texts_of(task_table(), &TaskEntry::name), task) > 0;
  return is_task ? text(program_call(), " show ", shell_word(word)) : "";
}

bool has_range(const std::string& list) {
  return std::ranges::any_of(split(list, ','),
                             [](std::string_view part) { return range_of(part).has_value(); });
}

std::string without_ranges(const std::string& list) {
  constexpr std::int64_t kMost = 32;
  std::vector<std::string> numbers;
  for (const std::string_view part : split(list, ',')) {
    const std::optional<Range> range = range_of(part);
    if (!range) {
      numbers.emplace_back(part);
      continue;
    }
    if (range->size() > kMost) return "";
    const std::int64_t step = range->first <= range->last ? 1 : -1;
    for (std::int64_t n = range->first; n != range->last + step; n += step) {
      numbers.push_back(range->layer + std::to_string(n));
    }
  }
  return has_range(list) ? join(numbers, ",") : "";
}

std::vector<std::string> runs_near(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    const fs::path above = folder.parent_path();
    return is_run(above) ? std::vector{above.string()} : std::vector<std::string>();
  }
  std::vector<std::string> found;
  for (const fs::path& below : folders_in(folder)) {
    if (is_run(below)) {
      found.push_back(below.string());
      continue;
    }
    for (const fs::path& lower : folders_in(below)) {
      if (is_run(lower)) found.push_back(lower.string());
    }
  }
  return found;
}

std::vector<std::int32_t> typed_tokens(const Task& task, const std::string& flag,
                                       const std::string& words) {
  try {
    return task.encode(words);
  } catch (const Error& error) {
    const std::string spaced = with_spaces(words);
    const std::string said = text("cannot use ", flag, " ", shell_word(words), ": ", error.what());
    if (!is_encoded(task, spaced)) throw Error(said, error.hint());
    throw UsageError(said, text("put spaces between tokens: ", flag, " ", shell_word(spaced)));
  }
}

}  // namespace headlab::cli
