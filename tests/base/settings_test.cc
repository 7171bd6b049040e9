// Settings: each kind from JSON and from text, what it refuses and in which words, and the way back
// to JSON. Read next: src/core/base/settings.cc.
#include "headlab/core/base/settings.h"

#include "support/errors.h"

namespace headlab { namespace settings_tests {

enum class Shade { light, medium, dark };

/// One setting of every kind.
class EveryKind : public testing::Test {
 protected:
  EveryKind() {
    settings_.integer("layers", layers_, 0, 100, "blocks");
    settings_.real("rate", rate_, 0, 1, "how fast");
    settings_.boolean("tied", tied_, "or not");
    settings_.string("file", file_, "what to read");
    settings_.integers("heads", heads_, 0, 8, "of each layer");
    settings_.choice("shade", shade_, {"light", "medium", "dark"}, "how dark");
  }

  std::int64_t layers_ = 3;
  double rate_ = 0.5;
  bool tied_ = false;
  std::string file_ = "a.txt";
  std::vector<std::int64_t> heads_ = {4};
  Shade shade_ = Shade::medium;
  Settings settings_;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(EveryKind, IsSetFromJsonAndFromText) {
  for (const bool from_text : {false, true}) {
    layers_ = 0, rate_ = 1, tied_ = false, file_ = "", heads_ = {1, 2}, shade_ = Shade::light;
    if (from_text)
      settings_.set_all_text("layers=7  rate=2.5e-1 tied=true file=b.txt heads=1,0,8 shade=dark ");
    else
      settings_.set_all(Json::parse(R"({"layers": 7, "rate": 0.25, "tied": true, "file": "b.txt",
                                        "heads": [1, 0, 8], "shade": "dark"})"),
                        "here");
    EXPECT_TRUE(layers_ == 7 && rate_ == 0.25 && tied_ && file_ == "b.txt" &&
                heads_ == (Numbers{1, 0, 8}) && shade_ == Shade::dark)
        << settings_.to_json().dump();
  }
}

TEST_F(EveryKind, GoesThroughJsonUnchanged) {
  const Json before = settings_.to_json();
  EXPECT_EQ(before.dump(),
            R"({"layers":3,"rate":0.5,"tied":false,"file":"a.txt","heads":4,"shade":"medium"})");
  layers_ = 0, rate_ = 1, tied_ = true, file_ = "", heads_ = {1, 2}, shade_ = Shade::light;
  settings_.set_all(Json::parse(before.dump()), "here");
  EXPECT_EQ(settings_.to_json(), before);
}

TEST_F(EveryKind, KeepsItsValueWhenAnotherIsRefused) {
  const Json before = settings_.to_json();
  for (const char* wrong :
       {"layers=-1", "layers=101", "layers=2.5", "layers=two", "rate=1.1", "rate=-0.1", "tied=yes",
        "tied=1", "heads=9", "heads=1,x", "heads=", "shade=black", "shade=1"})
    EXPECT_THROW(settings_.set_all_text(wrong), Error) << wrong;
  for (const char* wrong :
       {R"({"layers": "3"})", R"({"layers": null})", R"({"rate": "0.5"})", R"({"rate": null})",
        R"({"tied": 0})", R"({"tied": "true"})", R"({"file": null})", R"({"file": ["a"]})",
        R"({"file": {}})", R"({"heads": []})", R"({"heads": [1, null]})", R"({"heads": [[1]]})",
        R"({"heads": 1.5})", R"({"shade": null})", R"({"shade": 0})"})
    EXPECT_THROW(settings_.set_all(Json::parse(wrong), "here"), Error) << wrong;
  EXPECT_EQ(settings_.to_json(), before);
}

TEST_F(EveryKind, NamesAllowedAndGivenValues) {
  const auto message = [&](const char* assignment) {
    return error_of([&] { settings_.set_all_text(assignment); });
  };
  EXPECT_EQ(message("layers=2.5"), "layers must be a whole number from 0 to 100, got 2.5");
  EXPECT_EQ(message("rate=fast"), "rate must be a number from 0 to 1, got \"fast\"");
  EXPECT_EQ(message("tied=yes"), "tied must be true or false, got \"yes\"");
  EXPECT_EQ(message("heads=4,9"), "heads must be a whole number from 0 to 8, got 9");
  EXPECT_EQ(message("heads="), "heads needs at least one number, got \"\"");
  EXPECT_EQ(message("shade=black"), "shade must be one of light, medium, dark; got \"black\"");
  EXPECT_EQ(message("shade=drak"),
            "shade must be one of light, medium, dark; got \"drak\"; did you mean 'dark'?");
  EXPECT_EQ(message("layers"), "expected NAME=VALUE, got 'layers'");
  EXPECT_EQ(message("=3"), "expected NAME=VALUE, got '=3'");
}

TEST_F(EveryKind, RefusesNumbersThatAreNone) {
  EXPECT_THROW(settings_.set("rate", Json(std::nan(""))), Error);
  EXPECT_THROW(settings_.set("layers", Json(HUGE_VAL)), Error);
  EXPECT_EQ(rate_, 0.5);
}

TEST(Settings, ATextMayHoldItsSeparatorIfNoAssignmentFollows) {
  std::string file;
  std::int64_t length = 0;
  Settings s;
  s.string("file", file, "");
  s.integer("length", length, 0, 9, "");
  s.set_all_text("file=tea, coffee,cake.txt,length=3", ',');
  EXPECT_EQ(file, "tea, coffee,cake.txt");
  EXPECT_EQ(length, 3);
  EXPECT_THROW(s.set_all_text("length=3,4", ','), Error);
  EXPECT_THROW(s.set_all_text("file=a,size=4", ','), Error);
}

TEST(Settings, AcceptTheEndsOfTheirRange) {
  std::int64_t n = 0;
  double x = 0;
  Settings settings;
  settings.integer("n", n, -2, 2, "");
  settings.real("x", x, -2, 2, "");
  for (const int end : {-2, 2}) {
    settings.set_all_text(text("n=", end, " x=", end));
    EXPECT_EQ(n, end);
    EXPECT_EQ(x, end);
  }
}

TEST(Settings, ReadNumbersAsPeopleWriteThem) {
  double x = 0;
  Settings settings;
  settings.real("x", x, -10, 10, "");
  for (const auto& [written, meant] : std::vector<std::pair<const char*, double>>{
           {"1e-3", 0.001}, {".5", 0.5}, {"5", 5}, {"-0.25", -0.25}, {"1E1", 10}}) {
    settings.set_text("x", written);
    EXPECT_EQ(x, meant) << written;
  }
  EXPECT_THROW(settings.set_text("x", "."), Error);
  EXPECT_THROW(settings.set_text("x", "nan"), Error);
  EXPECT_THROW(settings.set_text("x", ""), Error);
}

TEST(Settings, TakeTextsThatLookLikeNumbersAsTheyAreWritten) {
  std::string file;
  Settings settings;
  settings.string("file", file, "");
  for (const char* written : {"007", "1e3", "true", "null", "", "a=b"}) {
    settings.set_text("file", written);
    EXPECT_EQ(file, written);
  }
  EXPECT_TRUE(settings.find("file")->takes_text);
}

TEST(Settings, ReadListsInEveryForm) {
  Numbers heads;
  Settings settings;
  settings.integers("heads", heads, 0, 100, "");
  for (const char* written : {"4,0,2", "[4,0,2]", "4, 0, 2", "[4, 0, 2]"}) {
    settings.set_text("heads", written);
    EXPECT_EQ(heads, (Numbers{4, 0, 2})) << written;
  }
  EXPECT_EQ(settings.to_json().dump(), R"({"heads":[4,0,2]})");
  settings.set_text("heads", "8");
  EXPECT_EQ(heads, Numbers{8});
  EXPECT_EQ(settings.to_json().dump(), R"({"heads":8})");
}

TEST(Settings, AreCutAtTheSeparatorThatIsAskedFor) {
  std::int64_t a = 0, b = 0;
  Settings settings;
  settings.integer("a", a, 0, 9, "");
  settings.integer("b", b, 0, 9, "");
  settings.set_all_text("a=1,b=2", ',');
  EXPECT_EQ(a * 10 + b, 12);
  settings.set_all_text("", ',');
  EXPECT_THROW(settings.set_all_text("a=1 b=2", ','), Error);
  EXPECT_EQ(a * 10 + b, 12);
}

TEST_F(EveryKind, NamesTheNearestOfAnUnknownName) {
  std::vector<std::string> said = settings_.names();
  said.push_back("unknown setting 'layer'; did you mean 'layers'? | ");
  expect_error([&] { settings_.set_all_text("layer=2"); }, said);
}

TEST_F(EveryKind, BeginsMessagesWithTheirSource) {
  for (const auto& one : std::vector<std::pair<const char*, const char*>>{
           {R"({"laiers": 2})", "unknown setting 'laiers'; did you mean 'layers'? | "},
           {R"({"layers": true})", "layers must be a whole number from 0 to 100, got true"},
           {"[1]", "expected an object of settings, got an array"}})
    expect_error([&] { settings_.set_all(Json::parse(one.first), "config.json"); },
                 {text("config.json: ", one.second)});
}

TEST_F(EveryKind, SkipsIgnoredSettings) {
  settings_.set_all(Json::parse(R"({"version": "1", "layers": 2})"), "here", {"version"});
  EXPECT_EQ(layers_, 2);
}

TEST_F(EveryKind, CanBeJoinedToAnotherTable) {
  std::int64_t steps = 0;
  Settings all;
  all.integer("steps", steps, 0, 10, "");
  all.add(settings_);
  all.set_all_text("steps=5 layers=9");
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(layers_, 9);
  EXPECT_EQ(all.names().size(), settings_.names().size() + 1);
  EXPECT_EQ(all.find("none"), nullptr);
}

TEST_F(EveryKind, HasHelpAndSaysWhatAValueIs) {
  for (const Setting& setting : settings_.all()) {
    EXPECT_NE(setting.help, "") << setting.name;
    EXPECT_NE(setting.placeholder.empty(), setting.choices.empty()) << setting.name;
  }
  const std::vector<std::string> shades = {"light", "medium", "dark"};
  EXPECT_EQ(settings_.find("shade")->choices, shades);
}

}  // namespace settings_tests
}  // namespace headlab
