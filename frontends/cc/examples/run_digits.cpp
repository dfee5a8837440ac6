//===- run_digits.cpp - runs a trained network, without a compiler -------===//
//
// run_digits MODEL.tess DIGITS.csv EXPECTED.logits
//
// Runs the file that train_mlp wrote with the runtime alone, and compares the
// logits bit by bit with the expected ones.
//
//===----------------------------------------------------------------------===//
#include "frontends/cc/examples/Digits.h"
#include "tessera/deploy.h"

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace tessera::deploy;

/// Computes the logits of all images at once.
static Status logitsOf(const std::string &path, const digits::Digits &data, std::vector<float> &logits) {
  Model model;
  Status status = Model::load(path, model);
  if (!status)
    return status;
  std::cout << "run_digits: " << model.inputs()[0].name << " " << model.inputs()[0].text << ", code for "
            << model.target() << "\n";
  Session session;
  status = model.bind({{data.count(), digits::kPixels}}, session);
  if (!status)
    return status;
  logits.resize(session.outputBytes(0) / sizeof(float));
  return session.run({data.images.data()}, {logits.data()});
}

static std::string contents(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: run_digits MODEL.tess DIGITS.csv EXPECTED.logits\n";
    return 2;
  }
  digits::Digits data = digits::readDigits(argv[2]);
  std::vector<float> logits;
  if (Status status = logitsOf(argv[1], data, logits); !status) {
    std::cerr << "run_digits: " << status.message << "\n";
    return 1;
  }
  std::string expected = contents(argv[3]);
  bool isSame = expected.size() == logits.size() * sizeof(float) &&
                std::memcmp(expected.data(), logits.data(), expected.size()) == 0;
  double share = digits::accuracy(logits, data.labels);
  std::cout << "run_digits: accuracy " << share * 100 << " %, same bits as in training: " << (isSame ? "yes" : "no")
            << "\n";
  return share >= 0.95 && isSame ? 0 : 1;
}
