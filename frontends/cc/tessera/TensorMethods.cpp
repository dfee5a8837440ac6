//===- TensorMethods.cpp - methods of Tensor that are operators ----------===//
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "tessera/functional.h"

namespace tessera {

namespace eager = tess::eager;

void Tensor::readInto(DType wanted, void *destination) const {
  if (dtype() == wanted)
    return checkOrThrow(eager::readValue(*ref(), destination));
  eager::NoGrad noGrad;
  checkOrThrow(eager::readValue(*functional::astype(*this, wanted).ref(), destination));
}

#define TESS_DEFINE_METHODS
#define TESS_DEFINE_OPERATORS
#include "tessera/methods.inc"

Tensor full(const Shape &shape, double value, DType dtype) { return functional::full(shape, value, dtype); }
Tensor zeros(const Shape &shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape &shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zerosLike(const Tensor &x) { return zeros(x.shape(), x.dtype()); }
Tensor arange(double start, double stop, double step, DType dtype) {
  double count = std::ceil((stop - start) / step);
  if (!(std::abs(count) < 9007199254740992.0)) // 2^53, and refuses NaN
    throw Error(ErrorCode::InvalidArgument,
                "arange: (stop - start) / step must be a size, got " + std::to_string((stop - start) / step));
  return functional::arange(std::max<int64_t>(0, int64_t(count)), start, step, dtype);
}

} // namespace tessera
