// Command lines: words between newlines, given to `train` and read, but not carried out.
#include <string>
#include <vector>

#include "headlab/base/text.h"
#include "headlab/cli/arguments.h"
#include "headlab/cli/command.h"
#include "headlab/train/run_config.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [](std::string_view bytes) {
    std::vector<std::string> words;
    for (const std::string_view word : split(bytes, '\n')) words.emplace_back(word);
    static const cli::Command train = {"train", "", "", "headlab train", "", nullptr};
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
  });
}
