// The parts of the page's views that need no document, under node: see views_test.mjs.
#include "report/page_core.h"

namespace headlab { namespace {

using PageViews = PageCore;

TEST_F(PageViews, AreModulesInLayers) {
  const Told told = told_by(
      text("node --expose-internals ", HEADLAB_SOURCE_DIR, "/tests/report/modules_test.mjs"));
  EXPECT_TRUE(told.well) << told.text;
}

TEST_F(PageViews, KeepTheirAddressesColoursAndPicturesInOrder) {
  const std::string source = HEADLAB_SOURCE_DIR;
  const Told told = told_by(text("node ", source, "/tests/report/views_test.mjs"));
  EXPECT_TRUE(told.well) << told.text;
}

}}  // namespace headlab
