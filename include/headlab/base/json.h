// JSON (RFC 8259), small and strict: what is not JSON is refused with line and column, duplicate
// keys and invalid UTF-8 included. Objects keep their order, so a file that is read and written
// stays the same. A number is a double: whole numbers are exact up to 2^53 - 1, and `integer`
// refuses larger ones. One that is not finite is null. Read next: text.h, which turns numbers into
// text and back.
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

/// Above it two whole numbers may be one double.
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
  /// Any vector of things that convert to Json becomes an array.
  template <class T>
  requires(!std::is_same_v<T, Json> && !std::is_same_v<T, Member>)
      Json(const std::vector<T>& values)
      : value_(Array(values.begin(), values.end())) {}
  /// An empty optional becomes null.
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  /// A struct says in a function beside it what it is as JSON: `Json to_json(const Struct&)`.
  template <class T>
  requires requires(const T& value) {
    { to_json(value) } -> std::same_as<Json>;
  }
  Json(const T& value) : Json(to_json(value)) {}

  /// {{"loss", 0.5}, {"heads", heads}}: members of any types that convert to Json.
  static Json object(Object members = {}) { return Json(std::move(members)); }
  static Json array() { return Json(Array{}); }

  bool is_null() const { return std::holds_alternative<Null>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_number() const { return std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// The value as this type. Error that says what was expected and what there is.
  bool boolean() const;
  double number() const;
  /// A whole number with |value| <= kMostExact.
  std::int64_t integer() const;
  const std::string& string() const;
  const Array& items() const;
  Array& items();
  const Object& members() const;
  Object& members();

  /// The member `key` of an object, or nullptr.
  const Json* find(std::string_view key) const;
  /// The member `key`. Error if there is none.
  const Json& at(std::string_view key) const;
  /// The member `key`; if there is none, a null of that name is added at the end. Of a null that
  /// becomes an object first.
  Json& operator[](std::string_view key);
  void push_back(Json value) { items().push_back(std::move(value)); }

  /// "null", "a number", "a string" ... for messages.
  const char* kind() const;

  /// One line without spaces if indent is 0, else indented, with arrays of plain values on one
  /// line. The inverse of parse, bit for bit. Error for a string that is not UTF-8.
  std::string dump(int indent = 0) const;
  /// Error with `source`, line and column, and what was expected. Nesting at most 100 deep.
  static Json parse(std::string_view json, std::string_view source = "JSON");

  friend bool operator==(const Json&, const Json&) = default;

 private:
  /// Stores a finite number; any other leaves null. Not inline: where g++ 12 to 14 see the
  /// condition, they report the alternatives that it leaves out as uninitialised.
  void set_number(double value);

  /// Not trivially copyable, on purpose. Where every alternative is that, a string or a vector,
  /// std::variant of libstdc++ assumes that it always holds a value, and destroys one even when a
  /// copy ran out of memory before there was any: a crash in place of std::bad_alloc.
  struct Null {
    Null() = default;
    Null(const Null&) {}
    Null& operator=(const Null&) { return *this; }
    friend bool operator==(const Null&, const Null&) { return true; }
  };
  std::variant<Null, bool, double, std::string, Array, Object> value_;
};

/// An object that begins with "headlab": VERSION, as every file and every result does.
Json stamped(Json::Object members = {});

/// Error if a later version, by its first two numbers, wrote the object: its files may mean another
/// thing. Says nothing of objects without a version.
void require_known_version(const Json& json, std::string_view source);

/// The object with a checksum of all its other members as its last one, "checksum": how findings
/// and lines of logs are kept (files.h).
Json sealed(Json object);
/// Parses what was sealed and takes the checksum off. Error if it does not fit: the text is
/// damaged. `checked` becomes false where there is none, as earlier versions wrote it.
Json unsealed(std::string_view json, std::string_view source, bool& checked);

/// Whether `bytes` are valid UTF-8; `position` becomes that of the first byte that is not.
bool valid_utf8(std::string_view bytes, std::size_t& position);

}  // namespace headlab
