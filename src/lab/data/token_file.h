// Files of tokens from other programs. Formats with a header (llm.c's .bin, .npy) describe their
// content. A file without a header is read as uint16, as nanoGPT writes, unless its numbers look
// like uint32 or its first bytes like another kind of file; then it is refused until the setting
// `type` is given.
// Read next: tokens.cc, the task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/model/config.h"

namespace headlab {

/// The numbers of a file without a header.
enum class TokenType { automatic, uint16, uint32 };

/// Returns the tokens of a file. Errors: an unknown format, numbers that are no tokens, a header
/// that contradicts `type` or the file's size.
std::vector<std::int32_t> tokens_in(std::string_view bytes, TokenType type = TokenType::automatic);

/// Returns the words of a tokenizer's vocab.json, {"word": token, ...}, by token; "" if a token has
/// none. Errors that name `source`: two words of one token, and tokens far above both `tokens` and
/// the number of words.
std::vector<std::string> words_in(std::string_view json, const std::string& source, Index tokens);

}  // namespace headlab
