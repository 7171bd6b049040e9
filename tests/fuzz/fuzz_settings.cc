// Settings: a line such as "layers=2 lr=1e-3", task specs, and a whole config.json. What is
// accepted is written and read again as the same settings.
#include "fuzz/fuzz.h"
#include "headlab/tasks/table.h"
#include "headlab/train/run_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  if (size == 0) return 0;
  return answered(data + 1, size - 1, [kind = data[0] % 3](std::string_view bytes) {
    RunConfig config, again;
    if (kind == 0)
      settings_of(config).set_all_text(bytes);
    else if (kind == 1)
      check_task(bytes);
    else
      settings_of(config).set_all(Json::parse(bytes, "fuzz"), "fuzz", {"headlab"});
    const Json json = settings_of(config).to_json();
    settings_of(again).set_all(json, "again");
    must(settings_of(again).to_json() == json);
  });
}
