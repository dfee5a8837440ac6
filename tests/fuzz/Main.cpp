//===- Main.cpp - a fuzz target over its corpus, without a fuzzer ---------===//
#include "tests/fuzz/Fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Of one input: far above what the slowest takes, and below what Bazel gives a test.
static constexpr unsigned kDeadlineSeconds = 40;

static void runFile(const std::filesystem::path &path) {
  std::printf("%s\n", path.c_str()); // a crash is of the last one that is named
  std::fflush(stdout);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  tess::fuzz::ExactBytes input(bytes);
  ::alarm(kDeadlineSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.ref().data()), input.ref().size());
}

int main(int argc, char **argv) {
  unsigned count = 0;
  for (int i = 1; i < argc; ++i, ++count)
    runFile(argv[i]);
  std::printf("%u inputs\n", count);
  return count ? 0 : 1; // nothing shown by nothing
}
