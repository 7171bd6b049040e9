// Run folders: three files of one run, each perhaps damaged, between lines of four dashes. Opening
// them is an answer or an Error, whatever they hold. The folder lies in memory, and a file that is
// as it was for the input before is not written again: files cost more than what reads them.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "headlab/train/run.h"
#include "tools/fuzz/fuzz.h"

namespace {

/// The folder of this process; it goes when the process ends.
struct Folder {
  std::filesystem::path path =
      std::filesystem::path("/dev/shm") / ("headlab-fuzz-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  static const Folder made;
  static const std::filesystem::path& folder = made.path;
  constexpr std::array kNames = {"config.json", "metrics.jsonl", "state.safetensors"};
  static std::array<std::string, kNames.size()> contents = {"?", "?", "?"};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string_view part = rest.substr(0, rest.find("\n----\n"));
    rest.remove_prefix(std::min(rest.size(), part.size() + 6));
    if (contents[i] == part) continue;
    contents[i] = part;
    std::ofstream(folder / kNames[i], std::ios::binary) << part;
  }
  return answered(data, 0, [](std::string_view) {
    read_log(folder / "metrics.jsonl");
    RunConfig config = read_config(folder);
    if (config.model.d_model * config.model.vocab > 4096 || config.model.all_layers() > 4) return;
    if (config.model.length > 64 || config.model.d_ff > 64 || config.task.size() > 60) return;
    open_run(folder);
  });
}
