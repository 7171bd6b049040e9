// Structs that name their members: what they are as JSON, and that the way back is the inverse.
#include "headlab/lab/results/members.h"

#include <cmath>

#include "support/errors.h"

namespace headlab {

struct InnerMembers {
  double loss = 0;

  void members(auto&& f) { f("loss", loss); }
};
struct OuterMembers {
  std::string name;
  std::vector<InnerMembers> parts;
  std::optional<InnerMembers> best{};  // left out if there is none
  std::optional<std::int64_t> used{};  // null if there is none
  bool done = false;
  Json more;

  void members(auto&& f) {
    f("name", name), f("parts", parts), f("best", best), f("used", used), f("done", done);
    f("more", more);
  }
};

TEST(Members, AreWrittenAndReadBack) {
  const char* all[] = {
      R"({"name":"a","parts":[{"loss":0.5},{"loss":null}],"used":null,"done":true,"more":[1,"b"]})",
      R"({"name":"","parts":[],"best":{"loss":2},"used":3,"done":false,"more":null})"};
  for (const char* json : all)
    EXPECT_EQ(Json(read_as<OuterMembers>(Json::parse(json))).dump(), json) << "in this order";
  const OuterMembers outer = read_as<OuterMembers>(Json::parse(all[0]));
  EXPECT_TRUE(std::isnan(outer.parts.at(1).loss));
  EXPECT_FALSE(outer.best || outer.used);
  EXPECT_EQ(read_as<OuterMembers>(Json::parse(all[1])).best->loss, 2);
}

TEST(Members, MissingMembersAndOtherKindsAreErrors) {
  expect_error([] { read_as<InnerMembers>(Json::parse("{}")); }, {"'loss' is missing"});
  expect_error([] { read_as<InnerMembers>(Json::parse(R"({"loss":"low"})")); },
               {"expected a number"});
  expect_error([] { read_as<InnerMembers>(Json::parse("[]")); }, {"an object"});
}

}  // namespace headlab
