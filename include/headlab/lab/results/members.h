// Conversion of structs to JSON and back from one list of their members:
//
//   void members(auto&& f) { f("kept", kept), f("finetuned", finetuned); }
//
// A number that is not finite is null. An empty optional is null too, but omitted if its value
// would be an object. Read next: table.h.
#pragma once

#include <limits>

#include "headlab/core/base/json.h"

namespace headlab {

struct AnyMember {
  void operator()(const char*, auto&) const {}
};
template <class T>
concept HasMembers = requires(T& value) {
  value.members(AnyMember());
};
template <class T>
concept IsOptional = requires(T& value) {
  value.has_value();
};

template <HasMembers T>
Json to_json(const T& value) {
  Json json = Json::object();
  const_cast<T&>(value).members([&]<class Member>(const char* key, const Member& member) {
    json[key] = member;
    if constexpr (IsOptional<Member>) {
      if (HasMembers<typename Member::value_type> && !member) json.members().pop_back();
    }
  });
  return json;
}

/// Reads a value, the inverse of to_json. Error if a member that is not optional is missing, or is
/// of another kind. Other types are read by `from_json(json, value)` in their namespace.
template <class T>
T read_as(const Json& json) {
  T value{};
  if constexpr (std::is_same_v<T, Json>) {
    value = json;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = json.boolean();
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(json.integer());
  } else if constexpr (std::is_same_v<T, double>) {
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = json.string();
  } else if constexpr (IsOptional<T>) {
    if (!json.is_null()) value = read_as<typename T::value_type>(json);
  } else if constexpr (requires { value.emplace_back(); }) {
    for (const Json& item : json.items()) value.push_back(read_as<typename T::value_type>(item));
  } else if constexpr (HasMembers<T>) {
    value.members([&]<class Member>(const char* key, Member& member) {
      const Json* found = IsOptional<Member> ? json.find(key) : &json.at(key);
      if (found != nullptr) member = read_as<Member>(*found);
    });
  } else {
    from_json(json, value);
  }
  return value;
}

}  // namespace headlab
