// `headlab import` and `headlab export`: convert models of other programs to runs, and runs to
// other checkpoint formats. The layouts are a table of the library. Read next:
// headlab/lab/layouts/layouts.h; eval.cc.
#include <algorithm>
#include <map>
#include <utility>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the task with the model's vocabulary and a sequence length that it can read, unless the
/// task sets them itself.
std::string fitting(const std::string& task, const TransformerConfig& model) {
  const Settings parameters = find_task(task).parameters();
  std::string spec = task;
  const auto add = [&](const char* name, Index value) {
    if (spec.find(text(name, "=")) == spec.npos && parameters.find(name) != nullptr) {
      spec += text(spec.find(':') == spec.npos ? ":" : ",", name, "=", value);
    }
  };
  add("vocab", model.vocab);
  const Setting* length = parameters.find("length");
  if (length != nullptr && length->get().integer() > model.length) add("length", model.length);
  const bool is_encoder = model.architecture == Architecture::encoder;
  const bool may_be_one = is_encoder && parameters.find("architecture") != nullptr;
  if (may_be_one && spec.find("architecture=") == spec.npos &&
      make_task(spec)->shape().architecture != Architecture::encoder) {
    spec += text(spec.find(':') == spec.npos ? ":" : ",", "architecture=encoder");
  }
  return spec;
}

/// Imports a headlab run too: it gets another task.
ImportedModel model_at(const fs::path& path, const std::vector<std::string>& ignored) {
  const fs::path config = path / "config.json";
  if (!is_there(config) || !Json::parse(read_file(config), config.string()).find("headlab")) {
    return import_model(path, ignored);
  }
  require(ignored.empty(), "cannot use --ignore-key: ", path.string(),
          " is a run of headlab, whose keys are all known");
  ImportedModel own{Transformer(read_config(path).model), "headlab", {}, {}};
  read_model(path / "model.safetensors", own.model);
  return own;
}

/// Returns "name: 3 of them, a, b ..."; "" for none.
std::string named(const std::string& what, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::vector<std::string> some = names;
  if (some.size() > 3) some.resize(3);
  return text(what, join(some, ", "), names.size() > 3 ? text(" ... (", names.size(), ")") : "",
              "\n");
}

std::string unread_text(const UnreadTensor& tensor) {
  return text(tensor.name, ": ", tensor.kind, " (", tensor.why, ")");
}

/// Returns "left out: 4 masks (headlab makes its own)"; "" for none.
std::string left_out_text(const std::vector<UnreadTensor>& unread) {
  std::map<std::pair<std::string, std::string>, Index> counts;  // by kind and reason
  for (const UnreadTensor& tensor : unread) ++counts[{tensor.kind, tensor.why}];
  std::vector<std::string> parts;
  for (const auto& [about, count] : counts) {
    const auto& [kind, why] = about;
    parts.push_back(text(count, " ", kind, count == 1 ? "" : "s", " (", why, ")"));
  }
  return parts.empty() ? "" : text("left out: ", join(parts, ", "), "\n");
}

/// Returns the choices that the names of tensors do not determine: "layer norm, learned positions,
/// activation gelu_erf (exact), tied".
std::string choices_of(const TransformerConfig& model) {
  const bool has_norm = model.norm != NormType::none;
  std::vector<std::string> choices = {has_norm ? text(kind_of(model.norm).name, " norm")
                                               : "no norm",
                                      text(kind_of(model.positions).name, " positions")};
  if (model.architecture == Architecture::encoder) choices.push_back("bidirectional attention");
  if (model.d_ff > 0) choices.push_back(text("activation ", kind_of(model.activation).name));
  if (std::ranges::count(model.window, 0) != std::ssize(model.window)) {
    choices.push_back(
        text("window ", join(texts_of(model.window, [](Index w) { return text(w); }), "+")));
  }
  choices.push_back(model.tied ? "tied" : "unembedding of its own");
  if (model.answers > 0) choices.push_back(text(model.answers, " answers that are no tokens"));
  return join(choices, ", ");
}

/// Returns "a,b" as {"a", "b"}.
std::vector<std::string> names_in(const std::string& names) {
  std::vector<std::string> list;
  for (const std::string_view name : split(names, ',')) {
    if (!name.empty()) list.emplace_back(name);
  }
  return list;
}

/// Throws a UsageError if the folder to write is missing, with the whole command as its hint.
void require_out(const Invocation& call, const std::string& out, const std::string& usual) {
  if (!out.empty()) return;
  throw UsageError("missing --out, the folder to write",
                   text(call.again(), " --out ", shell_word(usual)));
}

/// Returns the name of a model on a hub, such as openai-community/gpt2, from this name or the
/// address of its page; "" for the path of a file or in an existing folder.
std::string name_on_hub(const std::string& path) {
  constexpr std::string_view kAddress = "huggingface.co/";
  constexpr std::string_view kFiles[] = {".safetensors", ".json", ".bin", ".pt", ".pth", ".gguf"};
  const std::size_t address = path.find(kAddress);
  const std::string_view whole =
      std::string_view(path).substr(address == path.npos ? 0 : address + kAddress.size());
  const std::string name(whole.substr(0, whole.find("/tree/")));
  const bool is_plain = !name.empty() && name.find_first_of(":~ ") == name.npos && name[0] != '.' &&
                        name[0] != '/' && name.back() != '/';
  const fs::path folder = fs::path(name).parent_path();
  std::error_code ignored;
  const bool is_local = address == path.npos && !folder.empty() && fs::exists(folder, ignored);
  const bool is_file =
      std::ranges::find(kFiles, fs::path(name).extension().string()) != std::end(kFiles);
  return is_plain && !is_local && !is_file && std::ranges::count(name, '/') < 2 ? name : "";
}

/// Throws an Error if there is nothing at the path. A name of a hub gets the command that downloads
/// the model: headlab reads files only.
void require_path(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return;
  const std::string name = name_on_hub(path);
  std::string hint = "name the folder that holds config.json and model.safetensors";
  if (!name.empty()) {
    hint += text("; download a model of a hub first: `hf download ", shell_word(name),
                 " --local-dir ", shell_word(fs::path(name).filename().string()), "`");
  }
  throw Error(text("cannot import ", path, ": there is no such folder or file"), hint);
}

/// Returns a line of explanation for the Python code; "" for none.
std::string remark_of(const LayoutName& layout) {
  if (layout.remark[0] == '\0') return "";
  return text("  # ", wrapped(layout.remark, "  # ", 76));
}

/// Returns a folder inside Python quotes.
std::string python_text(const std::string& folder) {
  std::string escaped;
  for (const char c : folder) escaped += c == '\'' || c == '\\' ? text('\\', c) : std::string(1, c);
  return harmless(escaped);
}

/// Returns the Python code that loads a layout from a folder.
std::string python_of(const LayoutName& layout, const std::string& folder) {
  const std::string_view lines = layout.python;
  constexpr std::string_view kFolder = "OUT";
  std::string filled;
  for (std::size_t begin = 0; begin <= lines.size();) {
    const std::size_t end = std::min(lines.find(kFolder, begin), lines.size());
    filled += std::string(lines.substr(begin, end - begin));
    if (end < lines.size()) filled += python_text(folder);
    begin = end + (end < lines.size() ? kFolder.size() : 1);
  }
  return filled;
}

std::string layouts_help() {
  const std::string names = join(texts_of(layouts(), &LayoutName::name), ", ");
  return "\n" +
         wrapped("layouts, recognised by their config.json: headlab, " + names, "", text_width()) +
         "\n";
}

}  // namespace

Output import_command(Invocation& call) {
  std::string out, task = "repeated", ignored;
  bool force = false;
  Flags settings;
  settings.naming(ValueKind::run, "out", out, "folder of the new run");
  settings.naming(ValueKind::task, "task", task,
                  "task to use; `repeated` and `tokens` fit any model");
  settings.naming(ValueKind::other, "ignore_key", ignored, "unknown keys of config.json to ignore",
                  {.placeholder = "KEY", .several = true});
  settings.boolean("force", force, "replace the run that --out names");
  call.read(settings, {}, layouts_help());
  const std::string path = call.positionals()[0];
  require_path(path);
  require_out(call, out, text("runs/", fs::path(path).filename().string(), "-imported"));
  as_usage([&] { check_task(task); });
  ImportedModel imported = model_at(path, names_in(ignored));
  const TransformerConfig& model = imported.model.config();
  RunConfig config;
  config.task = fitting(task, model);
  config.train.batch = 8;
  config.imported = imported.layout;
  const Run run = import_run(out, config, imported.model, Existing{force});
  const Index parameters = imported.model.parameter_count();
  return reproducible(call,
                      stamped({{"layout", imported.layout},
                               {"parameters", parameters},
                               {"unread", texts_of(imported.unread, unread_text)},
                               {"unset", imported.unset},
                               {"ignored", names_in(ignored)},
                               {"task", run.config.task},
                               {"run", out}}),
                      text(path, ": ", imported.layout, ", ", grouped(parameters),
                           " parameters in ", model.layers, " layers -> ", out, "\n",
                           "computed with ", choices_of(model), "\n",
                           left_out_text(imported.unread),
                           named("not in the file (biases are 0, gains 1): ", imported.unset),
                           named("ignored keys: ", names_in(ignored))));
}

Output export_command(Invocation& call) {
  std::string out, to;
  Flags settings;
  settings.naming(ValueKind::layout, "to", to,
                  "layout: " + join(texts_of(exports(), &LayoutName::name), ", "));
  settings.string("out", out, "folder to write, new or empty", "OUT");
  std::string help = "\nwhat loads it in Python:\n";
  for (const LayoutName& layout : exports()) {
    help +=
        text("\n", layout.name, "\n  ", join(lines_of(layout.python + std::string("\n")), "\n  "),
             "\n", remark_of(layout));
  }
  call.read(settings, {}, help);
  require_out(call, out, "exported");
  require_known("layout", to, texts_of(exports(), &LayoutName::name));
  const Run run = open_run(call.positionals()[0]);
  export_model(run.model, to, out);
  const auto all = exports();
  const auto layout = std::ranges::find(all, to, &LayoutName::name);
  return reproducible(call, stamped({{"layout", to}, {"folder", out}}),
                      text(run.path.string(), " -> ", out, "\n\n", python_of(*layout, out), "\n",
                           remark_of(*layout)));
}

}  // namespace headlab::cli
