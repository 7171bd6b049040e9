// Texts: code points of UTF-8 are what the bytes say, and each can be shown.
#include "headlab/base/text.h"
#include "tasks/language.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [](std::string_view bytes) {
    std::string again;
    for (const char32_t point : code_points(bytes, "fuzz")) {
      append_utf8(again, point);
      must(!shown(point).empty());
    }
    must(again == bytes);
  });
}
