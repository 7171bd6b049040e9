// One tab of the browser and what a reader does in it: open a file, press keys, point and click,
// ask for dark colours or less motion, turn scripts off. The tests see the page as its reader does,
// and its numbers through `evaluate`. Read next: page_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "browser/devtools.h"
#include "support/tools.h"

namespace headlab::browser {

/// The one browser of this program; nullptr where there is none, with the reason.
inline Browser* the_browser(std::string& reason) {
  static std::string why;
  static const std::unique_ptr<Browser> browser = []() -> std::unique_ptr<Browser> {
    const std::string program = find_browser();
    if (program.empty()) {
      why = needs("a browser", "chromium-headless-shell");
      return nullptr;
    }
    try {
      return std::make_unique<Browser>(program);
    } catch (const NoBrowser& error) {
      why = error.what();
      return nullptr;
    }
  }();
  reason = why;
  return browser.get();
}

enum Modifier { none = 0, alt = 1, control = 2, meta = 4, shift = 8 };

class Tab {
 public:
  explicit Tab(Browser& browser) : browser_(browser) {
    target_ =
        browser_.call("Target.createTarget", {{"url", "about:blank"}}).at("targetId").string();
    session_ = browser_.call("Target.attachToTarget", {{"targetId", target_}, {"flatten", true}})
                   .at("sessionId")
                   .string();
    for (const char* domain : {"Page", "Runtime", "Network", "Log", "Performance"})
      call(std::string(domain) + ".enable");
  }
  ~Tab() {
    try {
      browser_.call("Target.closeTarget", {{"targetId", target_}});
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  Tab(const Tab&) = delete;
  Tab& operator=(const Tab&) = delete;

  Json call(const std::string& method, Json::Object params = {}) {
    return browser_.call(method, std::move(params), session_);
  }

  /// Opens an address and waits until it is loaded.
  void open(const std::string& url) {
    const Json answer = call("Page.navigate", {{"url", url}});
    if (const Json* error = answer.find("errorText")) throw std::runtime_error(error->string());
    browser_.wait_for("Page.loadEventFired", session_, 60);
  }
  void open_file(const fs::path& file, const std::string& hash = "") {
    open("file://" + fs::absolute(file).string() + hash);
  }

  /// The value of an expression, awaited if it is a promise. Throws what it throws.
  Json evaluate(const std::string& expression) {
    const Json answer =
        call("Runtime.evaluate",
             {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (const Json* thrown = answer.find("exceptionDetails")) {
      const Json* object = thrown->find("exception");
      const Json* words = object != nullptr ? object->find("description") : nullptr;
      throw std::runtime_error(words != nullptr ? words->string() : thrown->dump());
    }
    const Json* value = answer.at("result").find("value");
    return value != nullptr ? *value : Json();
  }
  std::string text(const std::string& expression) {
    const Json value = evaluate(expression);
    return value.is_string() ? value.string() : value.dump();
  }
  double number(const std::string& expression) { return evaluate(expression).number(); }
  bool holds(const std::string& expression) { return evaluate("!!(" + expression + ")").boolean(); }

  /// Asks until an expression is true. Throws after `seconds`.
  void wait_until(const std::string& expression, double seconds = 30) {
    const auto start = std::chrono::steady_clock::now();
    while (!holds(expression)) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > seconds) throw std::runtime_error("never true: " + expression);
      usleep(10'000);
    }
  }

  /// A key by its DOM name ("ArrowRight", "Enter", "x").
  void press(const std::string& key, int modifiers = none) {
    static const std::map<std::string, int> kCodes = {
        {"Backspace", 8}, {"Tab", 9},         {"Enter", 13},     {"Escape", 27}, {" ", 32},
        {"PageUp", 33},   {"PageDown", 34},   {"End", 35},       {"Home", 36},   {"ArrowLeft", 37},
        {"ArrowUp", 38},  {"ArrowRight", 39}, {"ArrowDown", 40}, {"Delete", 46}};
    const bool letter = key.size() == 1;
    const auto code = kCodes.find(key);
    const int upper = letter ? std::toupper(static_cast<unsigned char>(key[0])) : 0;
    Json::Object event = {{"type", "keyDown"},
                          {"key", key},
                          {"modifiers", modifiers},
                          {"windowsVirtualKeyCode", code != kCodes.end() ? code->second : upper}};
    if (!letter) event.emplace_back("code", key);
    if (letter && (modifiers & ~shift) == 0) event.emplace_back("text", key);
    if (key == "Enter") event.emplace_back("text", "\r");
    call("Input.dispatchKeyEvent", event);
    event[0].second = "keyUp";
    call("Input.dispatchKeyEvent", event);
  }

  struct Place {
    double x = 0, y = 0;
  };
  void point(const Place& at, int modifiers = none) { mouse("mouseMoved", at, modifiers); }
  void click(const Place& at, int modifiers = none) {
    point(at, modifiers);
    mouse("mousePressed", at, modifiers);
    mouse("mouseReleased", at, modifiers);
  }
  /// The middle of an element in the window, after scrolling to it: where it stays for two frames.
  Place middle_of(const std::string& selector) {
    const Json middle = evaluate(
        "(async () => { const find = () => document.querySelector(" + Json(selector).dump() +
        "); find().scrollIntoView({block: 'center'}); for (let before = '';;) { await new "
        "Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); }); "
        "const b = find().getBoundingClientRect(), now = [b.x + b.width / 2, b.y + "
        "b.height / 2]; if (String(now) === before) return now; before = String(now); "
        "} })()");
    return {middle.items()[0].number(), middle.items()[1].number()};
  }
  void click(const std::string& selector, int modifiers = none) {
    click(middle_of(selector), modifiers);
  }

  /// Sets the size of the window, and waits until the page has been drawn at this size.
  void resize(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
    evaluate(
        "new Promise((done) => { setTimeout(done, 2000); requestAnimationFrame(() => "
        "requestAnimationFrame(done)); })");
  }
  /// Media features, such as {"prefers-color-scheme", "dark"}; `type` is "screen" or "print".
  void prefer(const std::vector<std::pair<std::string, std::string>>& features,
              const std::string& type = "") {
    Json::Array list;
    for (const auto& [name, value] : features)
      list.push_back(Json::object({{"name", name}, {"value", value}}));
    call("Emulation.setEmulatedMedia", {{"media", type}, {"features", list}});
  }
  void allow_scripts(bool allowed) {
    call("Emulation.setScriptExecutionDisabled", {{"value", !allowed}});
  }

  /// Addresses that the page has asked for, without those of the page itself and of data in it.
  std::vector<std::string> requests(const std::string& own) {
    std::vector<std::string> urls;
    for (const Json& event : browser_.take("Network.requestWillBeSent", session_)) {
      const std::string url = event.at("request").at("url").string();
      const std::string bare = url.substr(0, url.find('#'));
      if (bare != own && bare != "about:blank" && !url.starts_with("data:") &&
          !url.starts_with("blob:"))
        urls.push_back(url);
    }
    return urls;
  }
  /// Errors of the page: exceptions, errors on its console, what its policy refused.
  std::vector<std::string> complaints() {
    std::vector<std::string> found;
    for (const Json& event : browser_.take("Runtime.exceptionThrown", session_))
      found.push_back(event.at("exceptionDetails").dump());
    for (const Json& event : browser_.take("Runtime.consoleAPICalled", session_))
      if (event.at("type").string() == "error") found.push_back(event.at("args").dump());
    for (const Json& event : browser_.take("Log.entryAdded", session_))
      if (event.at("entry").at("level").string() == "error")
        found.push_back(event.at("entry").at("text").string());
    return found;
  }

  /// The tree that assistive technology reads, without what it ignores.
  std::vector<Json> accessible_nodes() {
    std::vector<Json> nodes;
    const Json tree = call("Accessibility.getFullAXTree");
    for (const Json& node : tree.at("nodes").items())
      if (!node.at("ignored").boolean()) nodes.push_back(node);
    return nodes;
  }

 private:
  void mouse(const char* type, const Place& at, int modifiers) {
    const bool moving = std::string_view(type) == "mouseMoved";
    call("Input.dispatchMouseEvent", {{"type", type},
                                      {"x", at.x},
                                      {"y", at.y},
                                      {"modifiers", modifiers},
                                      {"button", moving ? "none" : "left"},
                                      {"clickCount", moving ? 0 : 1}});
  }

  Browser& browser_;
  std::string target_, session_;
};

/// A fresh tab for each test. Without a browser the test is skipped with the reason, and neither
/// prepare() nor tidy_up() is called; if HEADLAB_CHROMIUM is set, it fails. Derived fixtures
/// override these two, never SetUp(), which cannot end the SetUp() of a derived class.
class InBrowser : public testing::Test {
 protected:
  void SetUp() final {
    std::string reason;
    if (Browser* browser = the_browser(reason)) {
      tab_ = std::make_unique<Tab>(*browser);
      prepare();
      return;
    }
    if (std::getenv("HEADLAB_CHROMIUM") != nullptr) FAIL() << reason;
    GTEST_SKIP() << reason;
  }
  void TearDown() final {
    if (tab_ != nullptr) tidy_up();
  }
  virtual void prepare() {}
  virtual void tidy_up() {}
  Tab& tab() { return *tab_; }

  TemporaryFolder folder;

 private:
  std::unique_ptr<Tab> tab_;
};

}  // namespace headlab::browser
