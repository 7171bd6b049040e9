// JSON: what is accepted, what is refused and where the message points, and that dump is the
// inverse of parse on random values and on thousands of damaged documents. Read next:
// src/core/base/json_parse.cc.
#include "headlab/core/base/json.h"

#include <bit>
#include <limits>

#include "headlab/core/base/random.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "support/errors.h"

namespace headlab { namespace json_tests {

std::string parse_error(std::string_view json) {
  return error_of([&] { Json::parse(json, "file.json"); });
}

TEST(Json, KeepsTheOrderOfMembers) {
  Json json = Json::object();
  json["z"] = 1;
  json["a"] = true;
  json["m"] = nullptr;
  EXPECT_EQ(json.dump(), R"({"z":1,"a":true,"m":null})");
}

TEST(Json, TakesTheTypesOfTheProgram) {
  EXPECT_TRUE(Json(std::string_view("a")).is_string());
  EXPECT_TRUE(Json("a").is_string());
  EXPECT_TRUE(Json(2.5f).is_number());
  EXPECT_TRUE(Json(std::size_t{3}).is_number());
  EXPECT_TRUE(Json(false).is_bool());
  EXPECT_EQ(Json(std::vector<int>{1, 2}).dump(), "[1,2]");
  EXPECT_EQ(Json(std::vector<std::string>{"a"}).dump(), R"(["a"])");
  EXPECT_EQ(Json(std::vector<std::vector<int>>{{1}, {}}).dump(), "[[1],[]]");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
}

TEST(Json, DoesNotTakeAPointerForABool) {
  EXPECT_FALSE((std::is_constructible_v<Json, const int*>));
}

TEST(Json, BecomesAnObjectWhenANullIsIndexed) {
  Json json;
  json["a"]["b"] = 1;
  EXPECT_EQ(json.dump(), R"({"a":{"b":1}})");
}

TEST(Json, ErrorsNameExpectedAndActualKind) {
  EXPECT_EQ(error_of([] { (void)Json("text").number(); }), "expected a number, got a string");
  const Json number(1), string("a"), array = Json::array(), object = Json::object();
  EXPECT_THROW((void)number.boolean(), Error);
  EXPECT_THROW((void)number.string(), Error);
  EXPECT_THROW((void)number.items(), Error);
  EXPECT_THROW((void)array.members(), Error);
  EXPECT_THROW((void)array.find("a"), Error);
  EXPECT_THROW((void)object.integer(), Error);
  EXPECT_THROW((void)string.items(), Error);
}

TEST(Json, TakesOnlyWholeNumbersForIntegers) {
  EXPECT_EQ(Json(-3).integer(), -3);
  EXPECT_EQ(Json(0x1p53 - 1).integer(), kMostExact);
  EXPECT_THROW(Json::parse("9007199254740993").integer(), Error);  // would be read as ...992
  EXPECT_THROW((void)Json(0.5).integer(), Error);
  EXPECT_THROW((void)Json(0x1p54).integer(), Error);
  EXPECT_THROW((void)Json(std::numeric_limits<double>::infinity()).integer(), Error);
  EXPECT_THROW((void)Json(std::nan("")).integer(), Error);
}

TEST(Json, NamesAMissingKeyAndTheNearest) {
  Json json;
  json["layers"] = 2;
  EXPECT_EQ(error_of([&] { (void)json.at("layer"); }),
            "the key 'layer' is missing | there is 'layers'");
  EXPECT_EQ(json.find("layer"), nullptr);
  EXPECT_EQ(json.at("layers").integer(), 2);
}

TEST(Dump, WritesNumbersThatAreNotFiniteAsNull) {
  EXPECT_EQ(Json(std::vector<double>{std::nan(""), -INFINITY}).dump(), "[null,null]");
}

TEST(Dump, EscapesControlCharactersAndQuotes) {
  EXPECT_EQ(Json(std::string("\"\\\b\f\n\r\t\x01\x1f/\x7f")).dump(),
            "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f\"");
  EXPECT_EQ(Json("a b~").dump(), R"("a b~")") << "nothing from the blank on";
  EXPECT_EQ(Json(std::string("a\0b", 3)).dump(), "\"a\\u0000b\"");
}

TEST(Dump, RefusesStringsThatAreNotUtf8) {
  EXPECT_THROW(Json("\xff").dump(), Error);
  Json json;
  json["\xc0\x80"] = 1;
  EXPECT_THROW(json.dump(), Error);
}

TEST(Dump, IndentsAndKeepsPlainArraysOnOneLine) {
  const Json json = Json::parse(R"({"a":[1,2],"b":[[0,1],[]],"c":{},"d":[]})");
  EXPECT_EQ(json.dump(2), R"({
  "a": [1, 2],
  "b": [
    [0, 1],
    []
  ],
  "c": {},
  "d": []
})");
}

TEST(Parse, AcceptsEveryKindOfValue) {
  const Json json = Json::parse(" {\"a\" : [ null , true,false, -1.5e1 ,\"x\" ],\r\n\t\"b\":{} } ");
  EXPECT_EQ(json.dump(), R"({"a":[null,true,false,-15,"x"],"b":{}})");
  EXPECT_TRUE(Json::parse("null").is_null());
}

TEST(Parse, ReadsEscapes) {
  EXPECT_EQ(Json::parse(R"("\"\\\/\b\f\n\r\t")").string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(Json::parse(R"("\u0041\u00e9\u20AC\uD834\uDD1E")").string(),
            "A\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E");
  EXPECT_EQ(Json::parse(R"("\u0000")").string(), std::string(1, '\0'));
}

TEST(Parse, RefusesInvalidJson) {
  constexpr std::string_view kWrong =
      R"(|{|[|[1|[1,|[1,]|[,1]|{"a"}|{"a":}|{"a":1,}|{a:1}|{1:2}|{'a':1}|"a|"\|"\x"|"\u12"|"\u12g4")"
      R"(|tru|True|nul|nulll|NaN|Infinity|-|01|1.|.5|+1|1e|0x1|1 2|[1]]|{}{}|[1 2]|{"a" 1}|]|,)"
      R"(|"\uD800"|"\uDC00"|"\uD800\u0041"|"\uD800x"|1e999|{"a":1,"a":2})"
      "| |\"\n\"|\"\t\"|// a\n1|[1]\xEF\xBB\xBF|\xEF\xBB\xBF|\xEF\xBB\xBF\xEF\xBB\xBF{}|[1]\v";
  for (const std::string_view json : split(kWrong, '|'))
    EXPECT_THROW(Json::parse(json), Error) << json;
  EXPECT_THROW(Json::parse(std::string_view("1\0", 2)), Error);
  EXPECT_THROW(Json::parse(std::string_view("\0", 1)), Error);
}

TEST(Parse, PassesOverAByteOrderMark) {
  EXPECT_EQ(Json::parse("\xEF\xBB\xBF{\"a\": 1}").dump(), R"({"a":1})");
  expect_error([] { Json::parse("\xEF\xBB\xBF[1 2]", "a"); }, {"a: line 1, column 4"});
}

TEST(Parse, PointsAtLineAndColumn) {
  for (const auto& [json, said] : std::vector<std::pair<const char*, const char*>>{
           {"{\n  \"a\": 1,\n  b\n}", "3, column 3: expected a key in double quotes but found 'b'"},
           {"[\"\xC3\xA9\" 1]", "1, column 6: expected ',' or ']' but found '1'"},
           {"[1", "1, column 3: expected ',' or ']' but found the end"},
           {"[\x01]", "1, column 2: expected a value but found byte 1"},
           {"{\"a\":1,\n \"\\u0061\":2}", "2, column 2: the key 'a' is there twice"}})
    EXPECT_TRUE(parse_error(json).starts_with(text("cannot parse file.json: line ", said, " |")))
        << json;
}

TEST(Parse, NestsOneHundredDeepAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Json::parse(nested(100)).dump(), nested(100));
  EXPECT_THROW(Json::parse(nested(101)), Error);
  EXPECT_THROW(Json::parse(std::string(1'000'000, '[')), Error);
  std::string objects;
  for (int i = 0; i < 101; ++i) objects += "{\"a\":";
  EXPECT_NE(parse_error(objects).find("nested more than 100 deep"), std::string::npos);
}

TEST(Parse, RefusesInvalidUtf8) {
  for (const char* bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xC3", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF", "\xE2\x28\xA1"}) {
    EXPECT_NE(parse_error(text('"', bytes, '"')).find("column 2: the bytes are not UTF-8"),
              std::string::npos);
  }
}

TEST(ValidUtf8, AcceptsTheEdgesOfEachLength) {
  std::size_t position = 0;
  for (const char* bytes : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                            "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(valid_utf8(bytes, position));
  EXPECT_FALSE(valid_utf8("ab\xC3(", position));
  EXPECT_EQ(position, 2u);
}

/// A random value of at most `depth` levels.
Json random_value(Generator& random, int depth) {
  const std::int64_t kind = random.below(depth > 0 ? 6 : 4);
  if (kind == 0) return nullptr;
  if (kind == 1) return random.below(2) == 1;
  if (kind == 2) {
    const std::uint64_t low = random.bits();
    const auto bits =
        std::bit_cast<double>(low | (static_cast<std::uint64_t>(random.bits()) << 32));
    return std::isfinite(bits) ? bits : random.uniform();
  }
  if (kind == 3) {
    std::string string;
    for (std::int64_t i = random.below(8); i > 0; --i) {
      string += random.below(4) == 0 ? "\xE2\x82\xAC"
                                     : std::string(1, static_cast<char>(random.below(128)));
    }
    return string;
  }
  Json value = kind == 4 ? Json::array() : Json::object();
  for (std::int64_t i = random.below(5); i > 0; --i)
    if (kind == 4)
      value.push_back(random_value(random, depth - 1));
    else
      value["k" + std::to_string(i)] = random_value(random, depth - 1);
  return value;
}

TEST(KnownVersion, IsNoLaterOne) {
  const Json later = Json::object({{"headlab", "0.99.1"}});
  expect_error([&] { require_known_version(later, "a"); },
               {"cannot read a: it was written by headlab 0.99.1"});
  EXPECT_NO_THROW(require_known_version(stamped(), "a"));
}

TEST(RoundTrip, DumpIsTheInverseOfParse) {
  Generator random(Key{1}.fold("json"));
  for (int i = 0; i < 2000; ++i) {
    const Json value = random_value(random, 4);
    const std::string compact = value.dump();
    ASSERT_EQ(Json::parse(compact), value) << compact;
    ASSERT_EQ(Json::parse(compact).dump(), compact);
    ASSERT_EQ(Json::parse(value.dump(3)), value) << compact;
  }
}

void mutate(std::string& bytes, Generator& random) {
  const auto place = [&] {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size()) + 1));
  };
  const std::size_t at = place(), length = std::min<std::size_t>(place(), 9);
  constexpr std::string_view kSyntax = "{}[]\",:\\u0eE-+.9tn \n\xC3";
  const char syntax = kSyntax[static_cast<std::size_t>(random.below(std::ssize(kSyntax)))];
  switch (random.below(4)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(random.below(256));
      break;
    case 1:
      bytes.insert(at, 1, syntax);
      break;
    case 2:
      bytes.erase(at, length);
      break;
    default:
      bytes.insert(place(), bytes.substr(at, length));
  }
}

TEST(Fuzz, DamagedDocumentsAreRefusedOrMeanWhatTheySay) {
  const std::string valid =
      R"({"headlab":"0.1","a":[1,-2.5e-3,true,null],"\u00e9\n":{"x":[[],{}],"y":"\ud834\udd1e"}})";
  Generator random(Key{2}.fold("json"));
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = valid;
    for (std::int64_t times = random.between(1, 4); times > 0; --times) mutate(bytes, random);
    try {
      const Json value = Json::parse(bytes);
      ASSERT_EQ(Json::parse(value.dump()), value) << bytes;
      ++accepted;
    } catch (const Error& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with("cannot parse JSON: line "))
          << error.what();
    }
  }
  EXPECT_GT(accepted, 500);  // else the mutations are too wild to test anything
}

}  // namespace json_tests
}  // namespace headlab
