//===- Ptxas.h - runs of NVIDIA's assembler ---------------------*- C++ -*-===//
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace tess::test {

/// One run of ptxas; 127: there is none, and the output says so.
struct Ptxas {
  int status;
  std::string output;

  explicit Ptxas(const std::string &arguments) {
    std::string log = std::getenv("TEST_TMPDIR") + std::string("/ptxas.log");
    std::string tool = std::getenv("TEST_SRCDIR") + std::string("/ptxas/ptxas.sh");
    int result = std::system((tool + " " + arguments + " >" + log + " 2>&1").c_str());
    status = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    output = text.str();
  }

  static Ptxas assemble(const std::string &ptx, const std::string &architecture = "sm_90",
                        const std::string &options = "-v") {
    std::string file = std::getenv("TEST_TMPDIR") + std::string("/kernel.ptx");
    std::ofstream(file) << ptx;
    return Ptxas("-arch=" + architecture + " " + options + " " + file + " -o " + file + ".cubin");
  }
};

#define NEEDS_PTXAS                                                                                                    \
  if (Ptxas probe("--version"); probe.status == 127)                                                                   \
  TESS_SKIP(probe.output)

} // namespace tess::test
