// JSON values and writing (json.h). Writing is the inverse of parsing: a value that is written and
// parsed again is the same value, with its members in the same order, so reading and writing a file
// does not change it. Read next: json_parse.cc, the inverse.
#include "headlab/core/base/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/digest.h"
#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

/// Returns the alternative T of `variant`, which `value` holds.
template <class T, class Variant>
auto& checked(const char* expected, const Json& value, Variant& variant) {
  if (auto* found = std::get_if<T>(&variant)) return *found;
  throw Error(text("expected ", expected, ", got ", value.kind()));
}

void write_string(const std::string& value, std::string& out) {
  std::size_t position = 0;
  require(valid_utf8(value, position), "cannot write JSON: a string is not UTF-8 at its byte ",
          position);
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t special = kSpecial.find(c);
    if (special != std::string_view::npos) {
      out += '\\';
      out += kLetters[special];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_container(const Json& value) { return value.is_array() || value.is_object(); }

class Writer {
 public:
  explicit Writer(int indent) : indent_(std::max(indent, 0)) {}

  void write(const Json& value, int depth) {
    if (value.is_object()) {
      write_object(value.members(), depth);
    } else if (value.is_array()) {
      write_array(value.items(), depth);
    } else if (value.is_string()) {
      write_string(value.string(), out);
    } else if (value.is_number()) {
      out += number_text(value.number());
    } else if (value.is_bool()) {
      out += value.boolean() ? "true" : "false";
    } else {
      out += "null";
    }
  }

  std::string out;

 private:
  void write_object(const Json::Object& members, int depth) {
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      new_line(depth + 1);
      write_string(members[i].first, out);
      out += indent_ > 0 ? ": " : ":";
      write(members[i].second, depth + 1);
    }
    if (!members.empty()) new_line(depth);
    out += '}';
  }

  void write_array(const Json::Array& items, int depth) {
    const bool lines = std::any_of(items.begin(), items.end(), is_container);
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += indent_ > 0 && !lines ? ", " : ",";
      if (lines) new_line(depth + 1);
      write(items[i], depth + 1);
    }
    if (lines) new_line(depth);
    out += ']';
  }

  void new_line(int depth) {
    if (indent_ == 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth), ' ');
  }

  int indent_;
};

}  // namespace

void Json::set_number(double value) {
  if (std::isfinite(value)) value_ = value;
}

bool Json::boolean() const { return checked<bool>("true or false", *this, value_); }

double Json::number() const { return checked<double>("a number", *this, value_); }

std::int64_t Json::integer() const {
  const double value = checked<double>("a whole number", *this, value_);
  require(value == std::trunc(value) && std::abs(value) <= static_cast<double>(kMostExact),
          "expected a whole number of at most 2^53 - 1, got ", number_text(value));
  return static_cast<std::int64_t>(value);
}

const std::string& Json::string() const { return checked<std::string>("a string", *this, value_); }

const Json::Array& Json::items() const { return checked<Array>("an array", *this, value_); }

Json::Array& Json::items() { return checked<Array>("an array", *this, value_); }

const Json::Object& Json::members() const { return checked<Object>("an object", *this, value_); }

Json::Object& Json::members() { return checked<Object>("an object", *this, value_); }

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* value = find(key)) return *value;
  const std::string nearest = nearest_name(key, texts_of(members(), &Member::first));
  throw Error(text("the key '", key, "' is missing"),
              nearest.empty() ? "" : text("there is '", nearest, "'"));
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  for (Member& member : members()) {
    if (member.first == key) return member.second;
  }
  return members().emplace_back(std::string(key), Json()).second;
}

const char* Json::kind() const {
  constexpr const char* kNames[] = {"null",     "true or false", "a number",
                                    "a string", "an array",      "an object"};
  return kNames[value_.index()];
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this, 0);
  return std::move(writer.out);
}

}  // namespace headlab
