// A client of the DevTools protocol, small enough to be read: it starts a browser without a window,
// speaks JSON with it over two pipes (--remote-debugging-pipe: messages end with a NUL byte on
// descriptors 3 and 4), and kills it at the end. No port, no WebSocket, no package. Every call has
// a deadline; what the page asks of the network, throws or complains about is kept. Read next:
// tab.h.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"
#include "support/folders.h"

namespace headlab::browser {

namespace fs = std::filesystem;

/// The program of a browser: HEADLAB_CHROMIUM, or the first of some names in PATH; "" if there is
/// none.
inline std::string find_browser() {
  if (const char* given = std::getenv("HEADLAB_CHROMIUM"); given != nullptr && *given != '\0')
    return given;
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium-headless-shell", "chrome-headless-shell", "chromium",
                           "google-chrome", "google-chrome-stable"}) {
    std::string folders = path != nullptr ? path : "";
    for (std::size_t at = 0, end; at <= folders.size(); at = end + 1) {
      end = std::min(folders.find(':', at), folders.size());
      const std::string file = folders.substr(at, end - at) + "/" + name;
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return "";
}

/// Why there is no browser, or why it does not answer.
class NoBrowser : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Browser {
 public:
  /// Starts the browser and asks for its version. NoBrowser if it does not answer within 20 s.
  explicit Browser(const std::string& program) {
    std::array<int, 2> to{}, from{};
    if (pipe(to.data()) != 0 || pipe(from.data()) != 0) throw NoBrowser("no pipe");
    pid_ = fork();
    if (pid_ == 0) become(program, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    write_ = to[1];
    read_ = from[0];
    for (const int end : {write_, read_}) fcntl(end, F_SETFD, FD_CLOEXEC);
    std::signal(SIGPIPE, SIG_IGN);
    try {
      version_ = call("Browser.getVersion", {}, "", 20).at("product").string();
    } catch (const std::exception& error) {
      stop();
      throw NoBrowser(program + " does not start here: " + error.what());
    }
  }
  ~Browser() { stop(); }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  const std::string& version() const { return version_; }

  /// Sends a command and waits for its result. Throws what the browser says against it.
  Json call(const std::string& method, Json::Object params, const std::string& session = "",
            double seconds = 30) {
    Json message =
        Json::object({{"id", ++last_id_}, {"method", method}, {"params", Json(std::move(params))}});
    if (!session.empty()) message["sessionId"] = session;
    send(message.dump() + '\0');
    const Clock::time_point deadline = after(seconds);
    for (;;) {
      const Json answer = receive(deadline, method);
      const Json* id = answer.find("id");
      if (id == nullptr) {
        events_.push_back(answer);
      } else if (id->integer() == last_id_) {
        if (const Json* error = answer.find("error"))
          throw std::runtime_error(method + ": " + error->at("message").string());
        return answer.at("result");
      }
    }
  }

  /// The next event of a session with this name, an old or a new one; all others are kept.
  Json wait_for(const std::string& event, const std::string& session, double seconds = 30) {
    const Clock::time_point deadline = after(seconds);
    for (std::size_t seen = 0;; ++seen) {
      if (seen == events_.size()) events_.push_back(receive(deadline, event));
      if (is(events_[seen], event, session)) {
        const Json found = events_[seen];
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(seen));
        return found.at("params");
      }
    }
  }

  /// All events of a session with this name so far; they are not kept.
  std::vector<Json> take(const std::string& event, const std::string& session) {
    std::vector<Json> taken;
    std::erase_if(events_, [&](const Json& message) {
      if (!is(message, event, session)) return false;
      taken.push_back(message.at("params"));
      return true;
    });
    return taken;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static Clock::time_point after(double seconds) {
    return Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  }

  static bool is(const Json& message, const std::string& event, const std::string& session) {
    const Json *method = message.find("method"), *of = message.find("sessionId");
    return method != nullptr && method->string() == event && of != nullptr &&
           of->string() == session;
  }

  [[noreturn]] void become(const std::string& program, int in, int out) const {
    setpgid(0, 0);
    const int safe_in = fcntl(in, F_DUPFD, 10), safe_out = fcntl(out, F_DUPFD, 10);
    dup2(safe_in, 3);
    dup2(safe_out, 4);
    for (int other = 5; other < 64; ++other) close(other);
    const int baseline = open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) dup2(baseline, standard);
    std::vector<std::string> words = {program,
                                      "--remote-debugging-pipe",
                                      "--headless",
                                      "--disable-gpu",
                                      "--disable-dev-shm-usage",
                                      "--disable-extensions",
                                      "--disable-background-networking",
                                      "--disable-component-update",
                                      "--disable-sync",
                                      "--no-first-run",
                                      "--hide-scrollbars",
                                      "--force-device-scale-factor=1",
                                      "--window-size=1280,900",
                                      "--lang=en",
                                      "--user-data-dir=" + profile_.path().string(),
                                      "about:blank"};
    if (geteuid() == 0) words.insert(words.begin() + 1, "--no-sandbox");
    std::vector<char*> values;
    for (std::string& word : words) values.push_back(word.data());
    values.push_back(nullptr);
    execv(program.c_str(), values.data());
    _exit(127);
  }

  void send(const std::string& message) const {
    for (std::size_t sent = 0; sent < message.size();) {
      const ssize_t count = write(write_, message.data() + sent, message.size() - sent);
      if (count <= 0) throw std::runtime_error("the browser has gone");
      sent += static_cast<std::size_t>(count);
    }
  }

  Json receive(Clock::time_point deadline, const std::string& what) {
    for (;;) {
      if (const std::size_t end = buffer_.find('\0'); end != std::string::npos) {
        const std::string message = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return Json::parse(message);
      }
      using std::chrono::milliseconds;
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
      pollfd ready = {read_, POLLIN, 0};
      if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0)
        throw std::runtime_error("no answer to " + what + " in time");
      std::array<char, 65536> bytes{};
      const ssize_t count = read(read_, bytes.data(), bytes.size());
      if (count <= 0) throw std::runtime_error("the browser has gone");
      buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

  void stop() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
    close(write_);
    close(read_);
  }

  TemporaryFolder profile_;
  pid_t pid_ = 0;
  int write_ = -1, read_ = -1;
  std::int64_t last_id_ = 0;
  std::string buffer_, version_;
  std::deque<Json> events_;
};

}  // namespace headlab::browser
