// JSON (RFC 8259), small and strict: invalid JSON is refused with line and column, including
// duplicate keys and invalid UTF-8. Objects keep their order, so reading and writing a file does
// not change it. Numbers are doubles: whole numbers are exact up to 2^53 - 1, and `integer` refuses
// larger ones. A number that is not finite is written as null. Read next: text.h, the conversion of
// numbers to text and back.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headlab {

/// Largest whole number that is exact: above it two whole numbers may be one double.
inline constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) - 1;

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() {}
  Json(std::nullptr_t) {}
  template <std::same_as<bool> Bool>  // a template, so that no pointer becomes a bool
  Json(Bool value) : value_(value) {}
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) Json(Number value) {
    set_number(static_cast<double>(value));
  }
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  /// Converts a vector of convertible values to an array.
  template <class T>
  requires(!std::is_same_v<T, Json> && !std::is_same_v<T, Member>)
      Json(const std::vector<T>& values)
      : value_(Array(values.begin(), values.end())) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  /// Converts a struct with a function `Json to_json(const Struct&)` in its namespace.
  template <class T>
  requires requires(const T& value) {
    { to_json(value) } -> std::same_as<Json>;
  }
  Json(const T& value) : Json(to_json(value)) {}

  /// Returns an object of members of any types that convert to Json: {{"loss", 0.5}, {"heads",
  /// heads}}.
  static Json object(Object members = {}) { return Json(std::move(members)); }
  static Json array() { return Json(Array{}); }

  bool is_null() const { return std::holds_alternative<Null>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_number() const { return std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// Returns the value as this type. Errors name the expected and the actual kind.
  bool boolean() const;
  double number() const;
  /// Error unless it is a whole number with |value| <= kMostExact.
  std::int64_t integer() const;
  const std::string& string() const;
  const Array& items() const;
  Array& items();
  const Object& members() const;
  Object& members();

  const Json* find(std::string_view key) const;
  /// Error if there is no member `key`; `find` returns nullptr instead.
  const Json& at(std::string_view key) const;
  /// Returns the member `key`. If there is none, appends a null with that name. A null value
  /// becomes an object first.
  Json& operator[](std::string_view key);
  void push_back(Json value) { items().push_back(std::move(value)); }

  /// Returns "null", "a number", "a string" ... for messages.
  const char* kind() const;

  /// Returns one line without spaces if indent is 0, else indented text with arrays of plain values
  /// on one line. It is the inverse of parse, bit for bit. Error if a string is not UTF-8.
  std::string dump(int indent = 0) const;
  /// Parses JSON. Errors name `source`, line and column, and what was expected. Nesting is limited
  /// to 100 levels.
  static Json parse(std::string_view json, std::string_view source = "JSON");

  friend bool operator==(const Json&, const Json&) = default;

 private:
  /// Stores a finite number; any other becomes null. Not inline: if g++ 12 to 14 see the condition,
  /// they report the other alternatives as uninitialised.
  void set_number(double value);

  /// Deliberately not trivially copyable. If every alternative is trivially copyable, a string or a
  /// vector, std::variant of libstdc++ assumes that it always holds a value, and destroys one even
  /// if a copy ran out of memory before there was any: a crash instead of std::bad_alloc.
  struct Null {
    Null() = default;
    Null(const Null&) {}
    Null& operator=(const Null&) { return *this; }
    friend bool operator==(const Null&, const Null&) { return true; }
  };
  std::variant<Null, bool, double, std::string, Array, Object> value_;
};

/// Returns whether `bytes` are valid UTF-8; `position` becomes that of the first invalid byte.
bool valid_utf8(std::string_view bytes, std::size_t& position);

}  // namespace headlab
