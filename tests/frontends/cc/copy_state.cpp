//===- copy_state.cpp - reads a state and writes it again ----------------===//
#include "tessera/Serialization.h"

#include <iostream>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  try {
    tessera::save(tessera::load(argv[1]), argv[2]);
  } catch (const tessera::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
