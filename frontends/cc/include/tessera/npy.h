//===- npy.h - NumPy's array files ------------------------------*- C++ -*-===//
#pragma once

#include "tessera/deploy.h"

#include <string>
#include <vector>

namespace tessera::deploy {

/// A contiguous row-major array.
struct NpyArray {
  DType dtype = DType::Float32;
  Shape shape;
  std::vector<char> data;
  /// Number of elements.
  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : shape)
      n *= size;
    return n;
  }
};

/// Reads format versions 1 to 3, little endian, C or Fortran order (made row-major). The message names the file.
Status readNpy(const std::string &path, NpyArray &array);
/// The same from the bytes of such a file; `name` stands for the path in messages.
Status parseNpy(const std::string &bytes, const std::string &name, NpyArray &array);
/// The dtype as which a file has elements of `dtype`: the unsigned integer of their width for bfloat16 and float8,
/// which NumPy lacks, else `dtype` itself.
DType storedAs(DType dtype);
/// Writes version 1.0, with elements as storedAs() says.
Status writeNpy(const std::string &path, DType dtype, const Shape &shape, const void *data);

} // namespace tessera::deploy
