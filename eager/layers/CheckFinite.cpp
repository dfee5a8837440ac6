//===- CheckFinite.cpp - the call that makes the first NaN or infinity ---===//
//
// This layer is not in the stack unless a user asks for it. It waits for each
// result, so that the error comes from the call that made the value.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/CheckFinite.h"

#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Outcome.h"
#include "eager/eviction/Eviction.h"
#include "eager/layers/Layers.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Queue.h"
#include "runtime/device/Elements.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tess::eager {

namespace {

/// The positions of the first NaN and the first infinity of a value; -1: none.
struct Flaws {
  int64_t nan = -1, infinity = -1;
  bool isNegative = false; // sign of that infinity
  bool any() const { return nan >= 0 || infinity >= 0; }

  void see(int64_t element, bool isNan, bool sign) {
    if (isNan && nan < 0)
      nan = element;
    if (!isNan && infinity < 0) {
      infinity = element;
      isNegative = sign;
    }
  }
};

template <typename T> Flaws scan(const T *data, int64_t count) {
  Flaws flaws;
  for (int64_t i = 0; i < count; ++i) {
    double value = double(runtime::widen(data[i]));
    if (!std::isfinite(value))
      flaws.see(i, std::isnan(value), value < 0);
  }
  return flaws;
}

/// The flaws of a value, which it waits for. A value lost to an earlier failure has no flaws.
llvm::Expected<Flaws> flawsOf(TensorImpl &tensor) {
  if (!isDifferentiable(tensor.dtype()))
    return Flaws();
  eviction::Use use;
  if (LLVM_UNLIKELY(eviction::isActive()))
    if (llvm::Error e = use.add(tensor.storage()))
      return std::move(e);
  if (llvm::Error e = awaitWritten(tensor.storage()))
    return std::move(e);
  if (tensor.storage().failure())
    return Flaws();
  llvm::Expected<TensorRef> plain = contiguousNow(tensor, "check_finite");
  if (!plain)
    return plain.takeError();
  const char *data = (*plain)->data();
  std::vector<char> apart; // a copy of what the host does not address
  if (!tensor.storage().device().hostAccessible()) {
    apart.resize(size_t(tensor.numElements() * byteWidth(tensor.dtype())));
    if (llvm::Error e = copyToHost(**plain, apart.data(), apart.size()))
      return std::move(e);
    data = apart.data();
  }
  int64_t parts = isComplex(tensor.dtype()) ? 2 : 1;
  Flaws flaws = runtime::withType(partOf(tensor.dtype()), [&](auto tag) {
    return scan(reinterpret_cast<const decltype(tag) *>(data), parts * tensor.numElements());
  });
  for (int64_t *place : {&flaws.nan, &flaws.infinity})
    *place = *place < 0 ? *place : *place / parts;
  return flaws;
}

/// The flaws among the attributes: an infinity or a NaN given there is intended.
Flaws flawsOf(const OpDef &op) {
  Flaws flaws;
  for (unsigned i = 0; i < op.numAttrs(); ++i)
    if (const AttrValue &value = op.attr(i); value.kind() == AttrKind::F64 && !std::isfinite(value.f64()))
      flaws.see(0, std::isnan(value.f64()), value.f64() < 0);
  return flaws;
}

/// The flaws that operands and attributes brought into the call.
llvm::Expected<Flaws> givenFlaws(const Call &call) {
  Flaws given = flawsOf(call.opDef());
  for (const Operand &operand : call.operands) {
    llvm::Expected<Flaws> flaws = flawsOf(*operand.tensor);
    if (!flaws)
      return flaws;
    given.nan = std::max(given.nan, flaws->nan);
    given.infinity = std::max(given.infinity, flaws->infinity);
  }
  return given;
}

/// The index of a row-major element, as in "[1, 0]".
std::string indexText(int64_t element, llvm::ArrayRef<int64_t> shape) {
  Shape index(shape.size(), 0);
  for (unsigned axis = shape.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return toString(index);
}

llvm::Error report(const Call &call, unsigned result, const TensorImpl &value, const Flaws &flaws, bool isNan) {
  const OpInfo &info = call.opDef().info();
  const char *name = info.results[std::min<size_t>(result, info.results.size() - 1)].name;
  const char *what = isNan ? "nan" : flaws.isNegative ? "-inf" : "inf";
  llvm::Error error =
      invalidArgument(call.opDef().name() + ": result " + name + " must be finite, got " + what + " at " +
                      indexText(isNan ? flaws.nan : flaws.infinity, value.shape()) + " of " + toString(value.meta()));
  DispatchCall described{call.opDef(), call.operands, call.segments()};
  return errorOf(*makeFailure(std::move(error), describeOperands(described), Location::here()));
}

} // namespace

void setCheckFinite(bool on) { disableLayer(Layer::CheckFinite, !on); }
bool checksFinite() { return enabled(bitOf(Layer::CheckFinite)); }

llvm::Error applyCheckFinite(Call &call, Tensors &results) {
  call.into = nullptr; // the operands are read after the call, so it must not write into one
  if (llvm::Error e = next(call, results))
    return e;
  const OpInfo &info = call.opDef().info();
  size_t numHidden = llvm::count_if(info.results, [](const ResultInfo &result) { return result.hidden; });
  for (unsigned i = 0; i + numHidden < results.size() && !info.operands.empty(); ++i) {
    llvm::Expected<Flaws> flaws = flawsOf(*results[i]);
    if (!flaws)
      return flaws.takeError();
    if (!flaws->any())
      continue;
    llvm::Expected<Flaws> given = givenFlaws(call);
    if (!given)
      return given.takeError();
    if (flaws->nan >= 0 && given->nan < 0)
      return report(call, i, *results[i], *flaws, true);
    if (flaws->infinity >= 0 && given->infinity < 0)
      return report(call, i, *results[i], *flaws, false);
  }
  return llvm::Error::success();
}

} // namespace tess::eager
