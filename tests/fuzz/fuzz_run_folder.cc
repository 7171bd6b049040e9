// Run folders: three files of one run, each perhaps damaged, between lines of four dashes. Opening
// them is an answer or an Error, whatever they hold. The folder lies in memory.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/fuzz.h"
#include "headlab/train/run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  static const std::filesystem::path folder =
      std::filesystem::path("/dev/shm") / ("headlab-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"config.json", "metrics.jsonl", "state.safetensors"}) {
    const std::string_view part = rest.substr(0, rest.find("\n----\n"));
    rest.remove_prefix(std::min(rest.size(), part.size() + 6));
    std::ofstream(folder / name, std::ios::binary) << part;
  }
  return answered(data, 0, [](std::string_view) {
    read_log(folder / "metrics.jsonl");
    RunConfig config = read_config(folder);
    if (config.model.d_model * config.model.vocab > 4096 || config.model.all_layers() > 4) return;
    if (config.model.length > 64 || config.model.d_ff > 64 || config.task.size() > 60) return;
    open_run(folder);
  });
}
