// Rules for the golden files of texts, tests/LAYER/golden/NAME.EXT: a test of the same layer
// names each of them as "LAYER/NAME.EXT" (or "LAYER/NAME", if it adds the extension), and together
// they are small. How tests compare with them: support/golden_text.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace headlab::structure { namespace {

namespace fs = std::filesystem;

/// The golden files of the layers in `tests`, relative to it: "cli/golden/help.txt".
std::vector<fs::path> golden_files(const fs::path& tests) {
  std::vector<fs::path> files;
  for (const auto& layer : fs::directory_iterator(tests)) {
    const fs::path folder = layer.path() / "golden";
    if (!fs::is_directory(folder)) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path().lexically_relative(tests));
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

/// The sources of the tests of a layer, joined.
std::string sources_of(const fs::path& layer) {
  std::string sources;
  for (const auto& entry : fs::directory_iterator(layer)) {
    if (entry.path().extension() == ".cc" || entry.path().extension() == ".h") {
      std::ifstream stream(entry.path(), std::ios::binary);
      sources.append(std::istreambuf_iterator<char>(stream), {});
    }
  }
  return sources;
}

/// Whether the sources of a layer name a golden file, with or without its extension.
bool is_named(const fs::path& golden, const std::string& layer, const std::string& sources) {
  const fs::path name = golden.lexically_relative(fs::path(layer) / "golden");
  const fs::path stem = name.parent_path() / name.stem();
  for (const fs::path& written : {name, stem}) {
    const std::string quoted = "\"" + layer + "/" + written.generic_string() + "\"";
    if (sources.find(quoted) != sources.npos) {
      return true;
    }
  }
  return false;
}

/// The golden files that no test of their layer names.
std::vector<std::string> orphans(const fs::path& tests) {
  std::map<std::string, std::string> sources;  // by layer
  std::vector<std::string> found;
  for (const fs::path& golden : golden_files(tests)) {
    const std::string layer = golden.begin()->string();
    if (!sources.contains(layer)) {
      sources[layer] = sources_of(tests / layer);
    }
    if (!is_named(golden, layer, sources[layer])) {
      found.push_back(golden.generic_string());
    }
  }
  return found;
}

TEST(GoldenFiles, AreEachNamedByATestOfTheirLayer) {
  const fs::path tests = fs::path(HEADLAB_SOURCE_DIR) / "tests";
  EXPECT_GT(golden_files(tests).size(), 100u);
  for (const std::string& orphan : orphans(tests)) {
    ADD_FAILURE() << "no test reads the golden file tests/" << orphan
                  << ": delete it, or name it in a test of its layer";
  }
}

TEST(GoldenFiles, UnusedFilesAreFound) {
  const fs::path tests = fs::path(testing::TempDir()) / "headlab_golden_files_test";
  fs::remove_all(tests);
  fs::create_directories(tests / "cli" / "golden");
  for (const char* name : {"whole.txt", "stem.svg", "stem_longer.svg", "orphan.txt"}) {
    std::ofstream(tests / "cli" / "golden" / name) << "text\n";
  }
  std::ofstream(tests / "cli" / "some_test.cc") << R"(f("cli/whole.txt"), g("cli/stem"))";
  EXPECT_EQ(orphans(tests),
            (std::vector<std::string>{"cli/golden/orphan.txt", "cli/golden/stem_longer.svg"}));
  fs::remove_all(tests);
}

TEST(GoldenFiles, AreSmallerThanAMegabyteTogether) {
  std::uintmax_t bytes = 0;
  const fs::path tests = fs::path(HEADLAB_SOURCE_DIR) / "tests";
  for (const fs::path& golden : golden_files(tests)) {
    bytes += fs::file_size(tests / golden);
  }
  EXPECT_LT(bytes, 1'000'000u);
}

}  // namespace
}  // namespace headlab::structure
