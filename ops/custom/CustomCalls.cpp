//===- CustomCalls.cpp - calls of a library's functions -------------------===//
#include "ops/custom/CustomCalls.h"

#include "ops/vocabulary/SizeExpr.h"

namespace tess::custom {

static_assert(TESS_MAX_RANK == kMaxRank && TESS_UNKNOWN_SIZE == kUnknown);
static_assert(TESS_FLOAT32 == int(DType::Float32) && TESS_BOOL == int(DType::Bool) &&
              TESS_UINT64 == int(DType::UInt64) && TESS_COMPLEX128 == int(DType::Complex128));

namespace {

void fail(const TessCall *call, const char *message, int state) {
  auto *to = const_cast<TessCall *>(call);
  to->message = message ? message : "";
  to->isState = state;
}

int64_t intOf(const TessCall *call, uint32_t parameter) {
  const AttrValue &value = call->op.attr(parameter);
  return value.kind() == AttrKind::Bool ? value.boolean() : value.i64();
}

double floatOf(const TessCall *call, uint32_t parameter) { return call->op.attr(parameter).f64(); }
const char *textOf(const TessCall *call, uint32_t parameter) { return call->op.attr(parameter).str().c_str(); }

const int64_t *intsOf(const TessCall *call, uint32_t parameter, uint32_t *count) {
  const IntList &values = call->op.attr(parameter).ints();
  *count = uint32_t(values.size());
  return values.data();
}

int64_t combine(TessSizeOp op, int64_t a, int64_t b) {
  switch (op) {
  case TESS_SIZE_ADD:
    return sizes::add(a, b);
  case TESS_SIZE_SUB:
    return sizes::subtract(a, b);
  case TESS_SIZE_MUL:
    return sizes::multiply(a, b);
  case TESS_SIZE_FLOORDIV:
    return sizes::floorDivide(a, b);
  case TESS_SIZE_MOD:
    return sizes::modulo(a, b);
  case TESS_SIZE_MAX:
    return sizes::maximum(a, b);
  case TESS_SIZE_MIN:
    return sizes::minimum(a, b);
  }
  return kUnknown;
}

void runAlone(const TessCall *, int64_t count, int64_t, void (*body)(void *, int64_t, int64_t), void *context) {
  body(context, 0, count);
}

} // namespace

const TessHost &plainHost() {
  static constexpr TessHost host = {sizeof(TessHost), fail, intOf, floatOf, textOf, intsOf, combine, runAlone};
  return host;
}

llvm::Error errorOf(const TessCall &call) {
  const std::string message =
      call.message.empty() ? "function must succeed, got an error without a text" : call.message;
  return makeError(call.isState ? ErrorCode::Internal : ErrorCode::InvalidArgument, call.op.name() + ": " + message);
}

TessMeta metaFor(const TensorMeta &meta) {
  TessMeta out = {int32_t(kindOf(meta.dtype)), int32_t(meta.rank()), {}};
  llvm::copy(meta.shape, out.sizes);
  return out;
}

llvm::Expected<TensorMeta> metaFrom(llvm::StringRef op, llvm::StringRef value, const TessMeta &meta) {
  auto refused = [&](const llvm::Twine &what, const llvm::Twine &got) {
    return makeError(ErrorCode::Internal, op + ": infer must give " + value + " " + what + ", got " + got);
  };
  if (meta.dtype < 0 || meta.dtype >= int32_t(kNumDTypes))
    return refused("a dtype", llvm::Twine(meta.dtype));
  if (meta.rank < 0 || meta.rank > int32_t(kMaxRank))
    return refused("a rank from 0 to " + llvm::Twine(kMaxRank), llvm::Twine(meta.rank));
  TensorMeta out(DType(meta.dtype), llvm::ArrayRef(meta.sizes, size_t(meta.rank)));
  for (int64_t size : out.shape)
    if (size < 0 && size != kUnknown && !(sizes::isSymbolic(size) && sizes::isKnown(size)))
      return refused("sizes of at least 0", llvm::Twine(size));
  return out;
}

} // namespace tess::custom
