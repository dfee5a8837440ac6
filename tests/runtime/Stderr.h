//===- Stderr.h - what a test writes to stderr ------------------*- C++ -*-===//
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace tess::test {

/// What `f` writes to stderr, Protobuf's log and other libraries' included.
template <typename F> std::string stderrOf(F f) {
  char path[] = "/tmp/tess_stderr_XXXXXX";
  int file = ::mkstemp(path), old = ::dup(2);
  REQUIRE(file >= 0);
  ::dup2(file, 2);
  f();
  ::dup2(old, 2);
  ::close(old);
  ::close(file);
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ::unlink(path);
  return text;
}

} // namespace tess::test
