// Safetensors: a header can lie about everything, and what is accepted fits its bytes.
#include "headlab/base/safetensors.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [size](std::string_view bytes) {
    std::size_t held = 0;
    for (const StoredTensor& tensor : parse_safetensors(bytes, "fuzz").tensors) {
      must(tensor.count() >= 0);
      held += tensor.bytes.size();
      if (tensor.dtype == "F32" || tensor.dtype == "F64")
        must(static_cast<std::int64_t>(tensor.doubles().size()) == tensor.count());
      else
        must(static_cast<std::int64_t>(tensor.integers().size()) == tensor.count());
    }
    must(held <= size);
  });
}
