// Findings: JSON whose structure is damaged, as the bytes behind a line of four dashes say, is read
// or refused; what was read is written and read again as the same.
#include "headlab/base/table.h"
#include "tools/fuzz/fuzz.h"

namespace {

using headlab::Json;

/// Takes the next byte, 0 where there is none left.
std::size_t next(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto byte = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return byte;
}

/// Walks down as the bytes say; there a list or an object loses a part, or anything becomes null, a
/// text, a number or a list.
void damage(Json& json, std::string_view& bytes) {
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
  const Json others[] = {Json(), Json("text"), Json(1e300), Json::array()};
  json = others[step / 8 % 4];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [](std::string_view bytes) {
    const std::string_view text = bytes.substr(0, bytes.find("\n----\n"));
    bytes.remove_prefix(std::min(bytes.size(), text.size() + 6));
    Json json = Json::parse(text, "fuzz");
    while (!bytes.empty()) damage(json, bytes);
    const Json written = to_json(finding_of(json));
    must(to_json(finding_of(written)) == written);
  });
}
