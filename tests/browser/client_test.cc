// The client itself, on a document of a few lines: it must see what it is there to see (a request,
// an error, what a policy refuses), or the tests of the page would pass whatever the page did.
// Read next: page_test.cc.
#include "browser/tab.h"
#include "headlab/base/files.h"

namespace headlab::browser { namespace {

class Client : public InBrowser {
 protected:
  std::string write(const std::string& body) {
    const fs::path file = folder / "small.html";
    write_file(file,
               "<!doctype html><html lang=en><meta charset=utf-8><title>small</title>" + body);
    return "file://" + file.string();
  }
};

TEST_F(Client, ReadsValuesAndWaitsForPromises) {
  tab().open(write("<p id=a>text</p>"));
  EXPECT_EQ(tab().text("document.getElementById('a').textContent"), "text");
  EXPECT_EQ(tab().number("new Promise((done) => setTimeout(() => done(7), 5))"), 7);
  EXPECT_TRUE(tab().evaluate("undefined").is_null());
  EXPECT_THROW(tab().evaluate("nothing.at.all"), std::runtime_error);
}

TEST_F(Client, PressesKeysAndClicks) {
  tab().open(
      write("<input id=a><button id=b>b</button><script>const seen = [];"
            "for (const type of ['keydown', 'click', 'mousemove'])"
            "addEventListener(type, (e) => seen.push(e.key || e.type));</script>"));
  tab().click("#a");
  tab().press("x");
  tab().press("Backspace");
  tab().press("y");
  tab().press("Tab");
  EXPECT_EQ(tab().text("document.getElementById('a').value"), "y");
  EXPECT_EQ(tab().text("document.activeElement.id"), "b");
  EXPECT_TRUE(tab().holds("seen.includes('click') && seen.includes('mousemove')"));
  EXPECT_TRUE(tab().holds("seen.includes('x') && seen.includes('Tab')"));
}

TEST_F(Client, SeesRequests) {
  const std::string url = write("<img src='http://127.0.0.1:9/none.png'>");
  tab().open(url);
  EXPECT_EQ(tab().requests(url), std::vector<std::string>{"http://127.0.0.1:9/none.png"});
}

TEST_F(Client, SeesErrorsAndWhatAPolicyRefuses) {
  tab().open(write("<p>fine</p>"));
  EXPECT_TRUE(tab().complaints().empty());
  tab().open(
      write("<script>setTimeout(() => { throw new Error('late'); }); console.error('said');"
            "</script>"));
  tab().wait_until("true");
  EXPECT_GE(tab().complaints().size(), 2u);
  tab().open(
      write("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
            "<script>1</script>"));
  EXPECT_EQ(tab().complaints().size(), 1u);
}

TEST_F(Client, EmulatesWhatReadersPrefer) {
  tab().open(write("<noscript>no script</noscript>"));
  tab().resize(320, 600);
  EXPECT_EQ(tab().number("innerWidth"), 320);
  tab().prefer({{"prefers-color-scheme", "dark"}, {"prefers-reduced-motion", "reduce"}});
  EXPECT_TRUE(tab().holds("matchMedia('(prefers-color-scheme: dark)').matches"));
  EXPECT_TRUE(tab().holds("matchMedia('(prefers-reduced-motion: reduce)').matches"));
  tab().prefer({{"forced-colors", "active"}}, "print");
  EXPECT_TRUE(tab().holds("matchMedia('(forced-colors: active)').matches"));
  EXPECT_TRUE(tab().holds("matchMedia('print').matches"));
}

TEST_F(Client, ReadsTheTreeOfNames) {
  tab().open(write("<button aria-label='press me'></button>"));
  bool found = false;
  for (const Json& node : tab().accessible_nodes())
    if (const Json* name = node.find("name"))
      if (const Json* value = name->find("value")) found |= value->dump() == "\"press me\"";
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace headlab::browser
