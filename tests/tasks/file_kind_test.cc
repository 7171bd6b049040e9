// Files of another kind where JSON is expected: the error names the kind, and its hint the way to
// the intended file. Read next: src/lab/data/file_kind.h.
#include "lab/data/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/errors.h"

namespace headlab { namespace {

TEST(ParseData, ReadsJson) {
  EXPECT_EQ(parse_data("{\"a\": 1}", "vocab.json").at("a").integer(), 1);
  expect_error([] { parse_data("[1 2]", "vocab.json"); }, {"vocab.json: line 1, column 4"});
}

TEST(ParseData, NamesFilesOfAnotherKind) {
  const std::pair<std::string, const char*> files[] = {
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {"<!DOCTYPE html><html>", "a page of HTML"},
      {"<html>", "a page of HTML"},
      {std::string("PK\3\4\0\0", 6), "a zip archive"},
      {"\x1F\x8B\x08 ", "compressed by gzip"},
      {"\x80\2}q", "a pickle of Python"}};
  for (const auto& [bytes, expected] : files) {
    expect_error([file = bytes] { parse_data(file, "vocab.json"); }, {"vocab.json: ", expected});
  }
}

}  // namespace
}  // namespace headlab
