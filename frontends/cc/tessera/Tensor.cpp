//===- Tensor.cpp - tensors of the C++ API -------------------------------===//
#include "tessera/Tensor.h"

#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/GraphValue.h"
#include "eager/tracing/Recorder.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

namespace eager = tess::eager;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// The dtype of a number without a tensor beside it.
static DType dtypeOf(eager::Number number) {
  if (number.kind == eager::Number::Float)
    return DType::Float32;
  return number.kind == eager::Number::Bool ? DType::Bool : DType::Int32;
}

eager::TensorRef Tensor::ref() const {
  if (variable)
    return variable;
  if (!weak)
    throw Error(ErrorCode::InvalidArgument, "tensor: a value must be given, got a tensor that is not defined");
  return valueOrThrow(eager::createScalar(*weak, tessera::dtypeOf(*weak)));
}

eager::Operand Tensor::operand() const {
  if (weak)
    return *weak;
  return eager::Operand(ref()); // this handle owns it
}

/// The shape, as the function that is recorded, if any, gets to know it.
static llvm::ArrayRef<int64_t> knownShape(const eager::TensorImpl &tensor) {
  if (tensor.isGraphValue())
    for (int64_t size : eager::varOf(tensor).meta().shape)
      if (size == tess::kUnknown || tess::sizes::isSymbolic(size))
        throw Error(ErrorCode::InvalidArgument, "shape: a free size of a network must not be read as a number, got '" +
                                                    tess::ir::sizeText(size) + "'");
  if (eager::Recorder *recorder = eager::Recorder::current())
    if (auto symbols = recorder->symbolicShape(tensor); symbols && llvm::any_of(*symbols, tess::sizes::dependsOnData))
      recorder->noteDataRead();
  return tensor.shape();
}

Shape Tensor::shape() const { return weak ? Shape() : Shape(knownShape(*ref())); }
int64_t Tensor::rank() const { return weak ? 0 : ref()->rank(); }
int64_t Tensor::numElements() const {
  if (weak)
    return 1;
  eager::TensorRef tensor = ref();
  (void)knownShape(*tensor);
  return tensor->numElements();
}
DType Tensor::dtype() const { return weak ? tessera::dtypeOf(*weak) : ref()->dtype(); }
std::string Tensor::name() const {
  eager::TensorRef tensor = ref();
  return tensor->isGraphValue() ? eager::varOf(*tensor).name() : tensor->name().str();
}

int64_t Tensor::size(int64_t axis) const {
  int64_t index = axis < 0 ? axis + rank() : axis;
  if (index < 0 || index >= rank())
    throw Error(ErrorCode::OutOfRange, "size: axis must be in [" + std::to_string(-rank()) + ", " +
                                           std::to_string(rank() - 1) + "], got " + std::to_string(axis));
  return knownShape(*ref())[index];
}

void Tensor::setName(const std::string &name) const {
  if (eager::TensorRef tensor = ref(); tensor->isGraphValue()) {
    eager::varOf(*tensor).name() = name;
    return;
  }
  (void)valueOrThrow(eager::apply(eager::RenameValue(name), {eager::Operand(ref())}));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::vector<char> Tensor::toBytes() const {
  std::vector<char> bytes(numElements() * byteWidth(dtype()));
  readInto(dtype(), bytes.data());
  return bytes;
}

Tensor Tensor::grad() const {
  eager::TensorRef grad = ref()->grad();
  return grad ? Tensor(std::move(grad)) : Tensor();
}

void Tensor::setGrad(const Tensor &grad) const {
  eager::TensorRef variable = ref();
  eager::noteGrad(*variable);
  variable->setGrad(grad.isDefined() ? grad.ref() : eager::TensorRef());
}

Tensor Tensor::detach() const { return Tensor(valueOrThrow(eager::dupTensor(*ref(), /*detach=*/true))); }

void Tensor::assign(const Tensor &value) const {
  if (!variable)
    throw Error(ErrorCode::InvalidArgument, "assign: the target must be a variable, got a number or nothing");
  eager::TensorRef taken = value.ref();
  if (taken->isGraphValue() && !variable->isGraphValue())
    throw Error(ErrorCode::InvalidArgument,
                "assign: a tensor outside of a network must not take a value of one, got one for " +
                    tess::toString(variable->meta()));
  eager::assign(*variable, *taken);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

void checkCount(const Shape &shape, size_t count) {
  tess::TensorMeta meta(DType::Float32, shape);
  if (meta.numElements() != int64_t(count))
    throw Error(ErrorCode::InvalidArgument, "tensor: values must be as many as the shape says, got " +
                                                std::to_string(count) + " for " + tess::toString(meta.shape));
}

Tensor fromBytes(const void *bytes, DType dtype, const Shape &shape) {
  for (int64_t size : shape)
    if (size < 0)
      throw Error(ErrorCode::InvalidArgument,
                  "tensor: sizes must not be negative, got " + tess::toString(llvm::ArrayRef(shape)));
  tess::TensorMeta meta(dtype, shape);
  eager::start();
  return Tensor(valueOrThrow(eager::createTensor(meta, bytes)));
}

} // namespace tessera
