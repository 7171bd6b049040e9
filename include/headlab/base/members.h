// A struct that names its members once is written as JSON and read back by that list:
//
//   void members(auto&& f) { f("kept", kept), f("finetuned", finetuned); }
//
// A number that is not finite is null. So is what is optional and not there; but where it would be
// an object it is left out. Read next: json.h.
#pragma once

#include <limits>

#include "headlab/base/json.h"

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

/// The inverse. Error where a member is missing that is not optional, or of another kind. Of a type
/// that is none of these, what `from_json(json, value)` beside it reads.
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
