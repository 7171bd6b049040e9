// Settings: a line such as "layers=2 lr=1e-3", task specs, and a whole config.json. What is
// accepted is written and read again as the same settings.
#include "headlab/tasks/table.h"
#include "headlab/train/run_config.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  if (size == 0) return 0;
  return answered(data + 1, size - 1, [kind = data[0] % 3](std::string_view bytes) {
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
  });
}
