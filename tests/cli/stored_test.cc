// `heads --patterns` and `page --patterns` as a user calls them: tables, CSV, JSON and a page of
// arrays alone, and a sentence for each command line that cannot be read.
#include "cli/program.h"
#include "lab/results/npy.h"
#include "support/stored_files.h"

namespace headlab::cli { namespace {

class StoredCommands : public Program {
 protected:
  StoredCommands() {
    write_stored_files(folder.path(), 40);
    write_one_example(folder.path());
  }
  Words heads(const Words& more = {}) const {
    return with(typed("heads --patterns p.npy --tokens t.json"), more);
  }
};

TEST_F(StoredCommands, HeadsFindsTheOwner) {
  const Outcome shown = done(heads({"--truth", "f.jsonl"}));
  expect_parts(shown.out, {"same", "0.1", "owner", "40 examples of 40", "causal",
                           "command: headlab heads --patterns p.npy"});
  const Json json = done(heads({"--truth", "f.jsonl", "--json"})).json();
  EXPECT_EQ(json.at("relations").items()[0].at("owner"), Json(Json::Array{0, 1}));
  EXPECT_EQ(json.at("patterns"), Json("p.npy"));
  const std::string csv = done(heads({"--truth", "f.jsonl", "--csv"})).out;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5) << "a line for each head: " << csv;
}

TEST_F(StoredCommands, HeadsWithoutTruthShowsKnownPatterns) {
  expect_parts(done(heads()).out, {"previous", "induction", "most", "like"});
  const std::string one = done(typed("heads --patterns q.npy --tokens u.json")).out;
  expect_parts(one, {"1 example of 1", "there is no p", "need 20 examples"});
}

TEST_F(StoredCommands, HeadsWritesFilesThatTheCallNames) {
  done(heads({"--truth", "f.jsonl", "--npy", "m.npy", "--out", "h.json"}));
  EXPECT_EQ(read_npy_floats(file("m.npy")).shape, (std::vector<std::int64_t>{1, 4, 40}));
  EXPECT_EQ(Json::parse(file("h.json")).at("heads").items().size(), 4U);
}

TEST_F(StoredCommands, PageHoldsScoresAndPatterns) {
  const Words words =
      typed("page --patterns p.npy --tokens t.json --truth f.jsonl --out F.html --examples 4");
  expect_parts(done(words).out, {"patterns", "4 of 40 examples are shown; all are scored", "F.html",
                                 "command: headlab page --patterns p.npy"});
  const std::string page = file("F.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  expect_parts(page, {"\"stored\":true", "0.1 owns same", "headlab heads --patterns p.npy"});
  EXPECT_EQ(page.find("No such"), page.npos);
  done(typed("page --patterns q.npy --tokens u.json"));
  EXPECT_TRUE(is_there(folder.path() / "q.html")) << "next to the array";
}

TEST_F(StoredCommands, PageObeysItsBudget) {
  write_stored_files(folder.path(), 512);
  const std::string all = "page --patterns p.npy --tokens t.json --examples 512 --out ";
  done(typed(all + "large.html"));
  const std::string shown = done(typed(all + "small.html --budget 0.5")).out;
  EXPECT_GT(file("large.html").size(), 500'000U);
  EXPECT_LE(file("small.html").size(), 500'000U);
  expect_parts(shown, {"of 512 examples are shown"});
}

TEST_F(StoredCommands, RefusalsNameTheFault) {
  const std::pair<const char*, Words> refused[] = {
      {"heads", {"missing argument RUN"}},
      {"heads run --patterns p.npy --tokens t.json", {"unexpected argument 'run'"}},
      {"heads --patterns p.npy", {"cannot use --patterns: it needs --tokens"}},
      {"heads --tokens t.json", {"cannot use --tokens: it needs --patterns"}},
      {"page --truth f.jsonl", {"cannot use --truth: it needs --patterns"}},
      {"page run --patterns p.npy --tokens t.json", {"unexpected argument 'run'"}},
      {"page --patterns p.npy --tokens t.json --textbook", {"--textbook", "--patterns"}},
      {"heads --patterns no.npy --tokens t.json", {"cannot read 'no.npy'"}},
      {"heads --patterns p.npy --tokens u.json", {"u.json: it has tokens of 1 example"}},
      {"heads --patterns t.json --tokens t.json", {"t.json: it is not a NumPy array"}},
  };
  for (const auto& [line, parts] : refused) {
    SCOPED_TRACE(line);
    const Outcome outcome = run(typed(line));
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(outcome.err.find("error: "), 0U) << outcome.err;
    expect_parts(outcome.err, parts);
  }
}

}}  // namespace headlab::cli
