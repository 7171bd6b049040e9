// The table of file kinds. An entry has at least three bytes, so that tokens or texts rarely match
// one by chance. The numbers are from the specification of each format. To add a kind, add a row
// with a name and a hint for the user. Read next: file_kind.h.
#include "lab/data/file_kind.h"

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

using namespace std::string_view_literals;

constexpr const char* kUnpack = "unpack it first, and name the file inside";
constexpr const char* kOther = "name another file";
constexpr const char* kDownload = "download the file itself: a page was saved in its place";

constexpr FileKind kKinds[] = {
    {"version https://git-lfs"sv, "a pointer of git-lfs, not the file itself",
     "run `git lfs pull` in its repository"},
    {"<!DOCTYPE"sv, "a page of HTML", kDownload},
    {"<!doctype"sv, "a page of HTML", kDownload},
    {"<html"sv, "a page of HTML", kDownload},
    {"<HTML"sv, "a page of HTML", kDownload},
    {"<?xml"sv, "XML", kDownload},
    {"\x93NUMPY"sv, "a NumPy array (.npy)",
     "save tokens and targets in one .npz: numpy.savez(FILE, tokens=..., targets=...)"},
    {"PK\3\4"sv, "a zip archive, as numpy.savez and torch.save write", kUnpack},
    {"PK\5\6"sv, "an empty zip archive", kOther},
    {"\x1F\x8B\x08"sv, "compressed by gzip", kUnpack},
    {"BZh"sv, "compressed by bzip2", kUnpack},
    {"\xFD\x37zXZ\0"sv, "compressed by xz", kUnpack},
    {"\x28\xB5\x2F\xFD"sv, "compressed by zstd", kUnpack},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", kUnpack},
    {"\x89HDF\r\n"sv, "an HDF5 file", kOther},
    {"PAR1"sv, "a Parquet file", kOther},
    {"ARROW1"sv, "an Arrow file", kOther},
    {"\x80\2}"sv, "a pickle of Python", kOther},
    {"\x80\3}"sv, "a pickle of Python", kOther},
    {"\x80\4\x95"sv, "a pickle of Python", kOther},
    {"\x80\5\x95"sv, "a pickle of Python", kOther},
    {"\x89PNG\r\n"sv, "a PNG picture", kOther},
    {"%PDF-"sv, "a PDF", kOther},
    {"GGUF"sv, "a model in GGUF", kOther},
    {"MMIDIDX\0"sv, "the index (.idx) of tokens that Megatron wrote", "name its .bin file"}};

}  // namespace

const FileKind* foreign_kind(std::string_view bytes) {
  for (const FileKind& kind : kKinds) {
    if (bytes.starts_with(kind.begin)) return &kind;
  }
  return nullptr;
}

Json parse_data(std::string_view json, std::string_view source) {
  if (const FileKind* kind = foreign_kind(json); kind != nullptr) {
    throw Error(text("cannot parse ", source, ": expected JSON, but it is ", kind->name),
                kind->hint);
  }
  return Json::parse(json, source);
}

}  // namespace headlab
