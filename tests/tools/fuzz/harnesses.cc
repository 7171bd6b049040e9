// The harnesses of libFuzzer: a function for each reader of what comes from outside, given bytes
// that some machine made up. Whatever they are, the library must return or throw an Error, and what
// it accepted it must be able to write and read again. FUZZED names the function of a program; all
// are built where HEADLAB_FUZZ is ON (clang), with AddressSanitizer and UndefinedBehaviorSanitizer;
// run.sh runs them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/page_parts.h"
#include "headlab/app/cli/arguments.h"
#include "headlab/app/cli/command.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/safetensors.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/layouts/layouts.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/run.h"
#include "headlab/lab/runs/run_config.h"
#include "lab/data/language.h"
#include "lab/data/sequences.h"
#include "lab/data/token_file.h"
#include "lab/results/npy.h"

namespace headlab::fuzz {

/// Ends the process, as a finding, unless it holds.
inline void must(bool holds) {
  if (!holds) std::abort();
}

/// JSON: what is read is written and read again as the same value, bit for bit.
inline void json(std::string_view bytes) {
  const Json json = Json::parse(bytes, "fuzz");
  for (const int indent : {0, 2}) must(Json::parse(json.dump(indent)) == json);
}

/// Texts: code points of UTF-8 are what the bytes say, and each can be shown.
inline void text(std::string_view bytes) {
  std::string again;
  for (const char32_t point : code_points(bytes, "fuzz")) {
    append_utf8(again, point);
    must(!shown(point).empty());
  }
  must(again == bytes);
}

/// Safetensors: a header can lie about everything, and what is accepted fits its bytes.
inline void safetensors(std::string_view bytes) {
  std::size_t held = 0;
  for (const StoredTensor& tensor : parse_safetensors(bytes, "fuzz").tensors) {
    must(tensor.count() >= 0);
    held += tensor.bytes.size();
    if (tensor.dtype == "F32" || tensor.dtype == "F64")
      must(static_cast<std::int64_t>(tensor.numbers<double>().size()) == tensor.count());
    else
      must(static_cast<std::int64_t>(tensor.numbers<std::int64_t>().size()) == tensor.count());
  }
  must(held <= bytes.size());
}

/// Sequences: what is accepted fits its vocabulary and can be put into a batch.
inline void place(std::string_view bytes, const std::string& source) {
  LineReader reader;
  Sequences read = reader.read_all(bytes, source);
  reader.finish(std::array{&read});
  const TaskShape shape = shape_of(reader.header());
  if (read.size() == 0 || read.size() * shape.length * shape.targets > 1 << 20) return;
  Example example{Batch::make(read.size(), shape.length, shape.targets, shape.source_length),
                  std::vector<GroundTruth>(reader.header().relations.size())};
  for (Index b = 0; b < read.size(); ++b) {
    Sequence sequence{example, b, Split::train, Generator(Key{}), b, true};
    read.write(b, sequence);
  }
  for (const std::int32_t token : example.batch.tokens) must(token >= 0 && token < shape.vocab);
  for (const std::int32_t target : example.batch.targets)
    must(target >= -1 && target < shape.vocab);
}

/// Lines of JSON.
inline void sequences(std::string_view bytes) { place(bytes, "fuzz"); }

/// Arrays of NumPy: archives (.npz) of sequences, or tokens (.npy, and the forms of nanoGPT and
/// llm.c).
inline void arrays(std::string_view bytes) {
  if (bytes.starts_with("PK")) return place(bytes, "fuzz.npz");
  for (const std::int32_t token : tokens_in(bytes)) must(token >= 0);
}

/// Floating-point arrays of NumPy: what is accepted can be written and has its shape again.
inline void floats(std::string_view bytes) {
  const FloatArray array = read_npy_floats(bytes);
  const FloatArray again = read_npy_floats(npy_bytes(array.shape, array.values));
  must(again.shape == array.shape && again.values.size() == array.values.size());
}

/// Settings: a line such as "layers=2 lr=1e-3", task specs, and a whole config.json. Accepted
/// input is written and read back as the same settings.
inline void settings(std::string_view bytes) {
  if (bytes.empty()) return;
  const int kind = static_cast<unsigned char>(bytes[0]) % 3;
  bytes.remove_prefix(1);
  static RunConfig config, again;  // their tables cost more than what is read
  static const Settings settings = settings_of(config), reread = settings_of(again);
  config = again = RunConfig();
  if (kind == 0)
    settings.set_all_text(bytes);
  else if (kind == 1)
    check_task(bytes);
  else
    settings.set_all(Json::parse(bytes, "fuzz"), "fuzz", {"headlab"});
  const Json json = settings.to_json();
  reread.set_all(json, "again");
  must(reread.to_json() == json);
}

/// Command lines: words between newlines, given to `train` and read, but not carried out.
inline void command_line(std::string_view bytes) {
  std::vector<std::string> words;
  for (const std::string_view word : split(bytes, '\n')) words.emplace_back(word);
  static const cli::Command train = {"train", "", "", "headlab train", {}, nullptr};
  cli::Invocation call(train, words);
  static RunConfig config;
  static const Settings settings = user_settings_of(config);
  config = RunConfig();
  try {
    call.read(settings);
  } catch (const cli::HelpWanted&) {
    return;
  }
  must(!call.again().empty());
}

/// Takes the next byte, 0 where there is none left.
inline std::size_t next(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto byte = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return byte;
}

/// Walks down as the bytes say; there a list or an object loses a part, or anything becomes null, a
/// text, a number or a list.
inline void damage(Json& json, std::string_view& bytes) {
  const std::size_t step = next(bytes), kind = step % 8;
  const auto part = [&](auto& parts) {
    return parts.begin() + static_cast<long>(next(bytes) % parts.size());
  };
  const bool list = json.is_array() && !json.items().empty();
  const bool object = json.is_object() && !json.members().empty();
  if (list && kind < 4) return damage(*part(json.items()), bytes);
  if (object && kind < 4) return damage(part(json.members())->second, bytes);
  if (list && kind == 4) return static_cast<void>(json.items().erase(part(json.items())));
  if (object && kind == 4) return static_cast<void>(json.members().erase(part(json.members())));
  const Json others[] = {Json(), Json("text"), Json(1e300), Json::array(), Json(next(bytes))};
  json = others[step / 8 % std::size(others)];
}

/// JSON whose structure is damaged, as the bytes after a line of four dashes say.
inline Json damaged(std::string_view bytes) {
  const std::string_view text = bytes.substr(0, bytes.find("\n----\n"));
  bytes.remove_prefix(std::min(bytes.size(), text.size() + 6));
  Json json = Json::parse(text, "fuzz");
  while (!bytes.empty()) damage(json, bytes);
  return json;
}

/// Stored results are read or refused; what was read is written and read again as the same.
inline void result(std::string_view bytes) {
  const Json written = to_json(result_of(damaged(bytes)));
  must(to_json(result_of(written)) == written);
}

/// Files that pages and curves read again of what analyses have kept: "run" with the reports of a
/// run, "curve" and "subsets" as cells hold them, "lesson" as a user gives it.
inline void kept(std::string_view bytes) {
  Json json = damaged(bytes);
  const auto tried = [](const auto& read) {
    try {
      read();
    } catch (const Error&) {  // the others are read all the same
    }
  };
  tried([&] { json["run"]["conclusion"] = conclusion_of(json.at("run")); });
  tried([&] {
    const Json again = to_json(read_as<Curve>(json.at("curve")));
    must(to_json(read_as<Curve>(again)) == again);
  });
  tried([&] { must(to_json(read_as<SubsetTable>(json.at("subsets"))).is_object()); });
  tried([&] { worked_example_of(json.at("lesson"), "fuzz"); });
}

/// The folder of this process; it goes when the process ends.
struct Folder {
  std::filesystem::path path =
      std::filesystem::path("/dev/shm") / ("headlab-fuzz-" + std::to_string(getpid()));
  explicit Folder(const char* name = "") {
    path += name;
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

inline void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// A model as a layout has it: its settings, and its file in two parts.
struct Stored {
  Json config, header;
  std::string tensors;

  Stored(const LayoutName& layout, const std::string& settings) {
    const Folder folder("-stored");
    TransformerConfig config_of_it;
    settings_of(config_of_it)
        .set_all_text("layers=2 d_model=8 heads=2 vocab=5 length=4 " + settings);
    export_model(Transformer(config_of_it), layout.name, folder.path / "out");
    config = Json::parse(read_file(folder.path / "out/config.json"), "config");
    const std::string bytes = read_file(folder.path / "out/model.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    header = Json::parse(std::string_view(bytes).substr(8, size), "header");
    header["__metadata__"] = Json::object();  // no checksum
    tensors = bytes.substr(8 + size);
  }
  /// Says of each tensor that it lies in the file.
  Json index() const {
    Json names = Json::object();
    for (const auto& [name, place] : header.members())
      if (name != "__metadata__") names[name] = "model.safetensors";
    return Json::object({{"weight_map", names}});
  }
};

/// Models from elsewhere: of a layout's config.json, the header of its file and an index of it the
/// bytes choose one and damage it.
inline void layouts(std::string_view bytes) {
  static const Folder made;
  static const auto all = headlab::layouts();
  static const Stored stored[] = {{all[0], "d_ff=32"},
                                  {all[1], "block=llama d_ff=6 kv_heads=1"},
                                  {all[2], "d_ff=6"},
                                  {all[3], "d_ff=32 tied=true activation=gelu_erf"}};
  const Stored& one = stored[next(bytes) % std::size(stored)];
  Json files[] = {one.config, one.header, one.index()};
  const std::size_t chosen = next(bytes) % std::size(files);
  while (!bytes.empty()) damage(files[chosen], bytes);
  const std::string header = files[1].dump();
  const auto size = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
  write(made.path / "config.json", files[0].dump());
  write(made.path / "model.safetensors", std::string(size.data(), 8) + header + one.tensors);
  write(made.path / "model.safetensors.index.json", files[2].dump());
  const ImportedModel read =
      import_model(chosen == 2 ? made.path / "model.safetensors.index.json" : made.path);
  must(read.model.parameter_count() > 0);
}

/// Run folders: four files of one run, each perhaps damaged, between lines of four dashes. Opening
/// them is an answer or an Error, whatever they hold. The folder lies in memory, and a file that is
/// as it was for the input before is not written again: files cost more than what reads them.
inline void run_folder(std::string_view bytes) {
  static const Folder made;
  static const std::filesystem::path& folder = made.path;
  constexpr std::array kNames = {"config.json", "metrics.jsonl", "state.safetensors",
                                 "heads.jsonl"};
  static std::array<std::string, kNames.size()> contents = {"?", "?", "?", "?"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string_view part = bytes.substr(0, bytes.find("\n----\n"));
    bytes.remove_prefix(std::min(bytes.size(), part.size() + 6));
    if (contents[i] == part) continue;
    contents[i] = part;
    write(folder / kNames[i], part);
  }
  read_log(folder / "metrics.jsonl");
  RunConfig config = read_config(folder);
  if (config.model.d_model * config.model.vocab > 4096 || config.model.all_layers() > 4) return;
  if (config.model.length > 64 || config.model.d_ff > 64 || config.task.size() > 60) return;
  const Run run = open_run(folder);
  run_figures(run, Json::object({{"history", run_history(run)}, {"reports", Json::object()}}));
}

}  // namespace headlab::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    headlab::fuzz::FUZZED(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const headlab::Error&) {  // an answer; any other end is a finding
  }
  return 0;
}
