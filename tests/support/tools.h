// Programs that some tests need and that a machine may lack. A test that needs one is skipped with
// the sentence "needs NAME (package PACKAGE)": .cmake/check.cmake counts these sentences and prints
// how to run what was skipped. Packages are those of Debian and Ubuntu.
#pragma once

#include <cstdlib>
#include <string>

namespace headlab {

/// A tool: a command that succeeds if it is installed, and its package.
struct Tool {
  const char *name, *package, *probe;
};

inline constexpr Tool kBash = {"bash", "bash", "bash -c true"};
inline constexpr Tool kNode = {"node", "nodejs", "node --version"};
inline constexpr Tool kPython = {"python3", "python3", "python3 -c ''"};

inline bool succeeds(const std::string& command) {
  return std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) == 0;
}

inline std::string needs(const std::string& name, const std::string& package) {
  return "needs " + name + " (package " + package + ")";
}

/// Returns "" if a tool is installed; otherwise the reason for which a test is skipped.
inline std::string reason_without(const Tool& tool) {
  return succeeds(tool.probe) ? "" : needs(tool.name, tool.package);
}

/// A Python that has a module, and the reason for which a test is skipped if there is none.
struct PythonWith {
  std::string program;
  std::string reason;
};

/// Looks for a Python with `module`, which packages and users call `name`: the first in PATH, or
/// that of the system if the first has no packages. None if PATH has no Python at all.
inline PythonWith python_with(const std::string& module, const std::string& name) {
  const std::string reason = needs(name, "python3-" + module);
  if (!succeeds(kPython.probe)) return {"", reason};
  for (const std::string program : {"python3", "/usr/bin/python3"}) {
    if (succeeds(program + " -c 'import " + module + "'")) return {program, ""};
  }
  return {"", reason};
}

}  // namespace headlab
