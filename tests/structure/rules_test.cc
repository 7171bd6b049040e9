// Each rule accepts a file that keeps it and names the line of one that breaks it. A rule that
// cannot fail would let the project drift without a sound. Read next: tree_test.cc. The texts are
// as short as the rule allows.
#include "structure/rules.h"

#include <gtest/gtest.h>

namespace headlab::structure { namespace {

Problems layers(const std::string& path, const std::string& include) {
  return check_layers(Source::of(path, "#include <vector>\n#include \"" + include + "\"\n"));
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Layers, IncludeThemselvesAndWhatStandsAbove) {
  EXPECT_EQ(layers("src/ops/linear.cc", "headlab/kernels/gemm.h"), Problems{});
  EXPECT_EQ(layers("src/ops/linear.cc", "ops/broadcast.h"), Problems{});
  EXPECT_EQ(layers("include/headlab/cli/main.h", "headlab/headlab.h"), Problems{});
  EXPECT_EQ(layers("include/headlab/headlab.h", "headlab/report/html.h"), Problems{});
}

TEST(Layers, NeverIncludeALayerFurtherDown) {
  EXPECT_EQ(layers("src/ops/linear.cc", "headlab/nn/linear.h"),
            Problems{"src/ops/linear.cc:2: ops includes nn, a layer further down"});
  EXPECT_EQ(layers("include/headlab/base/json.h", "kernels/gemm.h").size(), 1u);
}

TEST(Layers, NeverIncludeTheHeaderOfEverything) {
  EXPECT_EQ(layers("src/report/html.cc", "headlab/headlab.h").size(), 1u);
}

TEST(Layers, AreNamedInTheInclude) {
  EXPECT_EQ(layers("src/ops/linear.cc", "broadcast.h").size(), 1u);
  EXPECT_EQ(layers("src/odds/ends.cc", "headlab/base/json.h").size(), 1u);
}

TEST(FirstInclude, IsTheHeaderOfTheSource) {
  const auto check = [](const std::string& text) {
    return check_first_include(Source::of("src/ops/a.cc", text), "headlab/ops/a.h");
  };
  EXPECT_EQ(check("// 1\n#include \"headlab/ops/a.h\"\n#include <map>\n"), Problems{});
  EXPECT_EQ(check("#include <map>\n#include \"headlab/ops/a.h\"\n"),
            Problems{"src/ops/a.cc:1: the first include is not \"headlab/ops/a.h\""});
  EXPECT_EQ(check("int x;\n").size(), 1u);
}

TEST(Length, OfAFileIsLimited) {
  EXPECT_EQ(check_length(Source::of("src/ops/a.cc", "1\n2\n3\n"), 3), Problems{});
  EXPECT_EQ(check_length(Source::of("src/ops/a.cc", "1\n2\n3\n4\n"), 3),
            Problems{"src/ops/a.cc:4: has 4 lines; the limit is 3"});
}

TEST(Opening, IsACommentAndThenPragmaOnce) {
  EXPECT_EQ(check_opening(Source::of("a.h", "// 1\n// 2\n// 3\n#pragma once\n")), Problems{});
  EXPECT_EQ(check_opening(Source::of("a.cc", "// 1\n// 2\n// 3\nint x;\n")), Problems{});
}

TEST(Opening, CannotBeLeftOut) {
  EXPECT_EQ(check_opening(Source::of("a.cc", "int x;\n")).size(), 1u);
  EXPECT_EQ(check_opening(Source::of("a.h", "// 1\n// 2\n// 3\n\n#pragma once\n")).size(), 1u);
  EXPECT_EQ(check_opening(Source::of("a.cc", repeat("// line\n", 13))).size(), 1u);
}

TEST(Functions, AreShorterThanFortyLines) {
  const std::string start = "namespace a {\n\nvoid f(int x,\n       int y) {\n";
  EXPECT_EQ(check_functions(Source::of("a.cc", start + repeat("  g();\n", 36) + "}\n")),
            Problems{});
  EXPECT_EQ(check_functions(Source::of("a.cc", start + repeat("  g();\n", 37) + "}\n")),
            Problems{"a.cc:3: a function of 40 lines; they are shorter than 40"});
}

TEST(Functions, EndBeforeTheNextBegins) {
  const std::string one = "int f() {\n" + repeat("  g();\n", 20) + "}\n\n";
  EXPECT_EQ(check_functions(Source::of("a.cc", repeat(one, 3) + "}  // namespace a\n")),
            Problems{});
}

TEST(Functions, AreMeasuredInsideClassesToo) {
  const std::string start = "class A {\n  void f() {\n";
  EXPECT_EQ(check_functions(Source::of("a.cc", start + repeat("    g();\n", 38) + "  }\n};\n")),
            Problems{"a.cc:2: a function of 40 lines; they are shorter than 40"});
}

TEST(Parameters, AreFiveAtMost) {
  const auto count = [](const std::string& text) {
    return check_parameters(Source::of("a.h", text)).size();
  };
  EXPECT_EQ(count("void f(int a, const B& b, C* c, std::map<int, D> d,\n       E e = {});\n"), 0u);
  EXPECT_EQ(count("void f(int a, const B& b, C* c, std::map<int, D> d,\n       E e, F f);\n"), 1u);
  EXPECT_EQ(count("auto f = [](int a, int b, int c, int d, int e, int f) {};\n"), 1u);
  EXPECT_EQ(count("g(a, b + 1, c, d.e, f(1, 2), h);\n"), 0u);
}

TEST(Threads, AreStartedInOnePlace) {
  const std::string pragma = "#pragma " + std::string("omp parallel for\n");
  EXPECT_EQ(check_threads(Source::of("src/tasks/text.cc", "std::thread reader;\n")).size(), 1u);
  EXPECT_EQ(check_threads(Source::of("src/base/threads.cc", pragma)), Problems{});
  EXPECT_EQ(check_threads(Source::of("src/kernels/gemm.cc", pragma)).size(), 1u);
}

TEST(Portable, HeadersDoNotAskForTheInstructionSet) {
  const std::string test = "#ifdef __AVX2__\n";
  EXPECT_EQ(check_portable(Source::of("src/kernels/vector.h", test)), Problems{});
  EXPECT_EQ(check_portable(Source::of("include/headlab/kernels/gemm.h", test)).size(), 1u);
}

TEST(Finished, IsWhatHasNoNoteOfWorkLeft) {
  EXPECT_EQ(check_finished(Source::of("a.cc", "// " + std::string("TO") + "DO: more\n")).size(),
            1u);
}

}  // namespace
}  // namespace headlab::structure
