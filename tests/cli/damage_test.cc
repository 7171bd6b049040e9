// Damaged checkpoints, read through `headlab eval`: whatever a disk, a copy or another program did
// to the file, the answer is a sentence that names it, and nothing is written. Both files are
// damaged in turn: the state, which a run is read from, and the model, where there is no state.
#include "cli/program.h"
#include "headlab/core/base/safetensors.h"

namespace headlab::cli { namespace {

struct Damage {
  const char* name;
  std::function<void(const fs::path&)> make;
  Words said;
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class Damaged : public Program,
                public testing::WithParamInterface<std::tuple<Damage, const char*>> {};

TEST_P(Damaged, FilesAreRefusedWithAMessage) {
  const auto& [damage, name] = GetParam();
  done(tiny({"--out", "a", "--steps", "2"}));
  if (std::string(name) == "model.safetensors")
    fs::remove(folder.path() / "a" / "state.safetensors");
  damage.make(folder.path() / "a" / name);
  const auto before = contents(folder.path());
  for (const Words& words :
       {Words{"eval", "a"}, Words{"heads", "a"}, Words{"train", "--resume", "a"},
        Words{"prune", "a", "--keep", "1", "--out", "b"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 1) << words[0];
    EXPECT_EQ(outcome.out, "");
    Words said = damage.said;
    said.emplace_back(name);
    expect_sentence(outcome.err, said);
  }
  EXPECT_EQ(contents(folder.path()), before);
}

// ---- ways to damage a file
// -----------------------------------------------------------------------

std::uint64_t header_length(const std::string& bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 255);
  return bytes + rest;
}

/// Changes the header as text.
void edit_header(const fs::path& path, const std::function<void(std::string&)>& edit) {
  const std::string bytes = read_file(path);
  const std::uint64_t length = header_length(bytes);
  std::string header = bytes.substr(8, length);
  edit(header);
  write_file(path, with_length(header.size(), header + bytes.substr(8 + length)));
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

/// Changes one tensor of the file and writes it well-formed.
void edit_tensor(const fs::path& path, const std::string& name,
                 const std::function<void(StoredTensor&)>& edit) {
  TensorFile file = read_safetensors(path);
  for (StoredTensor& tensor : file.tensors) {
    if (tensor.name.ends_with(name)) {
      edit(tensor);
      break;
    }
  }
  write_safetensors(path, file);
}

void truncate_by(const fs::path& path, std::size_t count) {
  const std::string bytes = read_file(path);
  write_file(path, bytes.substr(0, bytes.size() - count));
}

/// Moves the begin of one tensor into the tensor before it.
void overlap(std::string& header) {
  const std::string mark = "\"data_offsets\":[";
  std::size_t at = header.find(mark);
  while (at != std::string::npos && header[at + mark.size()] == '0') at = header.find(mark, at + 1);
  ASSERT_NE(at, std::string::npos) << header;
  const std::size_t begin = at + mark.size(), end = header.find(',', begin);
  const auto offset = std::stoull(header.substr(begin, end - begin));
  header.replace(begin, end - begin, std::to_string(offset - 4));
}

void duplicate_key(std::string& header) {
  const std::size_t name = header.find("W_E\":") + 5;
  const std::size_t end = header.find('}', name) + 1;
  const std::size_t begin = header.rfind('"', name - 3);
  ASSERT_NE(begin, std::string::npos);
  header.insert(end, "," + header.substr(begin, end - begin));
}

void fill_with_nan(StoredTensor& tensor) {
  const std::vector<float> nans(static_cast<std::size_t>(tensor.count()), std::nanf(""));
  tensor = StoredTensor::of(tensor.name, tensor.shape, std::span<const float>(nans));
}

const std::vector<Damage> kDamages = {
    {"Empty", [](const fs::path& path) { write_file(path, ""); }, {}},
    {"Truncated", [](const fs::path& path) { truncate_by(path, 100); }, {}},
    {"NotSafetensors",
     [](const fs::path& path) { write_file(path, "PK\3\4 a zip file, say"); },
     {}},
    {"OversizedHeader",
     [](const fs::path& path) {
       write_file(path, with_length(std::uint64_t{1} << 60, read_file(path).substr(8)));
     },
     {"header"}},
    {"HeaderNoJson",
     [](const fs::path& path) { edit_header(path, [](std::string& h) { h[0] = '['; }); },
     {}},
    {"Overlapping", [](const fs::path& path) { edit_header(path, overlap); }, {}},
    {"DuplicateKey", [](const fs::path& path) { edit_header(path, duplicate_key); }, {"embed.W_E"}},
    {"UnknownDtype",
     [](const fs::path& path) {
       edit_header(path, [](std::string& h) { replace_first(h, "\"F32\"", "\"X32\""); });
     },
     {"X32"}},
    {"WrongDtype",
     [](const fs::path& path) {
       edit_tensor(path, "embed.W_E", [](StoredTensor& t) { t.dtype = "I32"; });
     },
     {"embed.W_E", "I32", "F32"}},
    {"WrongShape",
     [](const fs::path& path) {
       edit_tensor(path, "embed.W_E", [](StoredTensor& t) { t.shape = {t.count()}; });
     },
     {"embed.W_E", "[256]"}},
    {"Renamed",
     [](const fs::path& path) {
       edit_tensor(path, "embed.W_E", [](StoredTensor& t) { t.name += "x"; });
     },
     {"embed.W_E"}},
    {"FilledWithNaN",
     [](const fs::path& path) { edit_tensor(path, "embed.W_E", fill_with_nan); },
     {"embed.W_E", "not finite"}},
};

std::string name_of(const testing::TestParamInfo<std::tuple<Damage, const char*>>& row) {
  const std::string file = std::get<1>(row.param);
  return std::get<0>(row.param).name + std::string("In") + file.substr(0, file.find('.'));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Damaged,
                         testing::Combine(testing::ValuesIn(kDamages),
                                          testing::Values("state.safetensors",
                                                          "model.safetensors")),
                         name_of);

using ARun = Program;

TEST_F(ARun, WithoutParametersIsRefused) {
  done(tiny({"--out", "a", "--steps", "2"}));
  fs::remove(folder.path() / "a" / "state.safetensors");
  done({"eval", "a"});
  fs::remove(folder.path() / "a" / "model.safetensors");
  expect_refused(run({"eval", "a"}), 1, {"model.safetensors"});
}

TEST_F(ARun, RefusesAnEditedConfig) {
  done(tiny({"--out", "a", "--steps", "2"}));
  const std::string config = file("a/config.json");
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{"\"d_model\": 16", "\"d_model\": 32"},
                                          {"\"d_model\"", "\"d_modell\""},
                                          {"\"heads\": 4", "\"heads\": 3"},
                                          {"\"vocab\": 16", "\"vocab\": 17"}}) {
    std::string edited = config;
    replace_first(edited, from, to);
    write_file(folder.path() / "a" / "config.json", edited);
    const Outcome outcome = run({"eval", "a"});
    EXPECT_EQ(outcome.status, 1) << to;
    expect_sentence(outcome.err, {});
  }
}

}  // namespace
}  // namespace headlab::cli
