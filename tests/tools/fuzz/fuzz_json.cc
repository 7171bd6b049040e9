// JSON: what is read is written and read again as the same value, bit for bit.
#include "headlab/base/json.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [](std::string_view bytes) {
    const Json json = Json::parse(bytes, "fuzz");
    for (const int indent : {0, 2}) must(Json::parse(json.dump(indent)) == json);
  });
}
