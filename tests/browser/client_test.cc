// The client itself, on a document of a few lines: it must see what it is there to see (a request,
// an error, what a policy refuses), or the tests of the page would pass whatever the page did.
// Read next: page_test.cc.
#include "browser/tab.h"
#include "headlab/core/base/files.h"

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

}  // namespace
}  // namespace headlab::browser
