// The message of an Error, for tests that want to hear it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlab/core/base/error.h"

namespace headlab {

/// The message of the Error that `body` throws, "message | hint"; fails if it throws none.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.hint().empty() ? error.what() : std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

/// An error whose message holds each of these.
template <class Body>
void expect_error(Body&& body, const std::vector<std::string>& parts) {
  const std::string message = error_of(body);
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

}  // namespace headlab
