// The parts of the page's views that need no document, under node: see views_test.mjs.
#include <filesystem>
#include <iterator>

#include "report/page_core.h"
#include "support/golden_text.h"

namespace headlab { namespace {

using PageViews = PageCore;

TEST_F(PageViews, AreModulesInLayers) {
  const Told told = told_by(
      text("node --expose-internals ", HEADLAB_SOURCE_DIR, "/tests/report/modules_test.mjs"));
  EXPECT_TRUE(told.well) << told.text;
}

/// Golden files of the pictures that views_test.mjs draws: it writes NAME.svg, which is compared
/// with page_NAME.svg.
constexpr const char* kPictures[] = {"report/page_matrix_of_hostile_names.svg",
                                     "report/page_matrix_empty.svg",
                                     "report/page_plot.svg",
                                     "report/page_plot_empty.svg",
                                     "report/page_bars.svg",
                                     "report/page_matrix_of_40_columns.svg",
                                     "report/page_matrix_of_vectors.svg",
                                     "report/page_bars_with_ticks.svg",
                                     "report/page_plot_with_five_marks.svg"};

TEST_F(PageViews, KeepTheirAddressesColoursAndPicturesInOrder) {
  const std::string source = HEADLAB_SOURCE_DIR;
  const std::string folder = folder_.path().string();
  const Told told = told_by(text("node ", source, "/tests/report/views_test.mjs ", folder));
  ASSERT_TRUE(told.well) << told.text;
  const std::string prefix = "report/page_";
  for (const std::string golden : kPictures) {
    const std::string name = golden.substr(prefix.size());
    expect_golden(golden, read_file(folder_ / name));
  }
  const auto files = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), std::ssize(kPictures));
}

}}  // namespace headlab
