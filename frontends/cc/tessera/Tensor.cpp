//===- Tensor.cpp - tensors of the C++ API -------------------------------===//
#include "tessera/Tensor.h"

#include "eager/GraphValue.h"
#include "eager/Tape.h"
#include "eager/tracing/Recording.h"
#include "ops/SizeExpr.h"
#include "tessera/Apply.h"
#include "tessera/functional.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tessera {

namespace eager = tess::eager;

eager::Tensors detail::refs(llvm::ArrayRef<Tensor> tensors) {
  eager::Tensors list;
  for (const Tensor &tensor : tensors)
    list.push_back(tensor.ref());
  return list;
}

std::vector<Tensor> detail::tensorsOf(eager::Tensors refs) {
  std::vector<Tensor> list;
  for (eager::TensorRef &ref : refs)
    list.emplace_back(std::move(ref));
  return list;
}

std::vector<Tensor> applyAll(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments) {
  llvm::SmallVector<eager::Operand, 4> given;
  llvm::SmallVector<unsigned, 4> counts(segments.begin(), segments.end());
  for (const Tensor &operand : operands) {
    if (segments.empty())
      counts.push_back(operand.isDefined());
    if (!operand.isDefined())
      continue;
    given.push_back(operand.operand());
  }
  const tess::OpInfo &info = op.info();
  counts.resize(std::max(counts.size(), info.operands.size()));
  eager::Tensors results;
  checkOrThrow(eager::applyNormalised(std::move(op), given,
                                      info.simple ? llvm::ArrayRef<unsigned>() : llvm::ArrayRef(counts), results));
  for (const tess::ResultInfo &result : info.results)
    if (result.hidden)
      results.pop_back();
  return detail::tensorsOf(std::move(results));
}

Tensor apply(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments) {
  return applyAll(std::move(op), operands, segments).front();
}

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

void Tensor::readInto(DType wanted, void *destination) const {
  if (dtype() == wanted)
    return checkOrThrow(eager::readValue(*ref(), destination));
  eager::NoGrad noGrad;
  checkOrThrow(eager::readValue(*functional::astype(*this, wanted).ref(), destination));
}

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
// Methods and operators that are functions
//===----------------------------------------------------------------------===//

#define TESS_DEFINE_METHODS
#define TESS_DEFINE_OPERATORS
#include "tessera/methods.inc"

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
  return Tensor(valueOrThrow(eager::createTensor(meta, bytes)));
}

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
