//===- my_program.cpp - runs a file on the numbers of the command line ---===//
#include "tessera/deploy.h"

#include <cstdlib>
#include <iostream>

using namespace tessera::deploy;

/// Runs the program on one vector of floats, which becomes its result.
static Status run(const char *path, std::vector<float> &numbers) {
  Model model;
  if (Status status = Model::load(path, model); !status)
    return status;
  Session session;
  if (Status status = model.bind({{int64_t(numbers.size())}}, session); !status)
    return status;
  std::vector<float> result(session.outputBytes(0) / sizeof(float));
  Status status = session.run({numbers.data()}, {result.data()});
  numbers = result;
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: my_program FILE.tess NUMBER...\n";
    return 2;
  }
  std::vector<float> numbers;
  for (int i = 2; i < argc; ++i)
    numbers.push_back(std::strtof(argv[i], nullptr));
  if (Status status = run(argv[1], numbers); !status) {
    std::cerr << "my_program: " << status.message << "\n";
    return 1;
  }
  for (float number : numbers)
    std::cout << number << "\n";
}
