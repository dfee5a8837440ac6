//===- Types.cpp - metas and MLIR types -----------------------------------===//
#include "ir/Types.h"
#include "ir/ElementTypes.h"
#include "ops/vocabulary/Quantization.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tess::ir {

Type elementType(MLIRContext *context, DType dtype) {
  if (isQuantized(dtype))
    return QuantizedType::get(context, dtype);
  if (isLowBit(dtype))
    return LowBitType::get(context, dtype);
  switch (dtype) {
  case DType::Float16:
    return Float16Type::get(context);
  case DType::BFloat16:
    return BFloat16Type::get(context);
  case DType::Float32:
    return Float32Type::get(context);
  case DType::Float64:
    return Float64Type::get(context);
  case DType::UInt8:
  case DType::UInt16:
  case DType::UInt32:
  case DType::UInt64:
    return IntegerType::get(context, 8 * byteWidth(dtype), IntegerType::Unsigned);
  case DType::Int8:
  case DType::Int16:
  case DType::Int32:
  case DType::Int64:
    return IntegerType::get(context, 8 * byteWidth(dtype));
  case DType::Bool:
    return IntegerType::get(context, 1);
  case DType::Float8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case DType::Complex64:
  case DType::Complex128:
    return ComplexType::get(elementType(context, partOf(dtype)));
  default:
    break;
  }
  llvm_unreachable("every dtype has a type");
}

static DType integerDType(IntegerType type) {
  switch (type.getWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return type.isUnsigned() ? DType::UInt8 : DType::Int8;
  case 16:
    return type.isUnsigned() ? DType::UInt16 : DType::Int16;
  case 32:
    return type.isUnsigned() ? DType::UInt32 : DType::Int32;
  default:
    return type.isUnsigned() ? DType::UInt64 : DType::Int64;
  }
}

DType dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerDType(integer);
  if (auto complex = dyn_cast<ComplexType>(type))
    return complexOf(dtypeOf(complex.getElementType()));
  if (isa<Float8E4M3FNType>(type))
    return DType::Float8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::Float8E5M2;
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return quantized.getDType();
  if (auto lowBit = dyn_cast<LowBitType>(type))
    return lowBit.getDType();
  if (type.isF16())
    return DType::Float16;
  if (type.isBF16())
    return DType::BFloat16;
  assert((type.isF32() || type.isF64()) && "not an element type of the dialect");
  return type.isF64() ? DType::Float64 : DType::Float32;
}

RankedTensorType typeOf(MLIRContext *context, const TensorMeta &meta) {
  return RankedTensorType::get(meta.shape, elementType(context, meta.dtype));
}

TensorMeta metaOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return TensorMeta(dtypeOf(tensor.getElementType()), tensor.getShape());
}

std::string locationText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? "" : locationText(fused.getLocations().front());
  return "";
}

Location locationOf(MLIRContext *context, StringRef text) {
  if (text.empty())
    return UnknownLoc::get(context);
  return NameLoc::get(StringAttr::get(context, text));
}

Attribute attributeOf(MLIRContext *context, const AttrValue &value) {
  Builder b(context);
  switch (value.kind()) {
  case AttrKind::None:
    return {};
  case AttrKind::I64:
    return IntegerAttr::get(IntegerType::get(context, 64, IntegerType::Signed), value.i64());
  case AttrKind::F64:
    return b.getF64FloatAttr(value.f64());
  case AttrKind::Bool:
    return b.getBoolAttr(value.boolean());
  case AttrKind::Str:
    return b.getStringAttr(value.str());
  case AttrKind::I64List:
    return b.getDenseI64ArrayAttr(value.ints());
  case AttrKind::DType:
    return b.getStringAttr(shortName(value.dtype()));
  case AttrKind::Parameter:
  case AttrKind::Body:
    break; // createOp() writes them
  }
  llvm_unreachable("every kind has an attribute");
}

static AttrValue stringValue(StringRef text, AttrKind kind) {
  if (kind == AttrKind::Str)
    return AttrValue(text.str());
  if (std::optional<DType> dtype = parseDType(text))
    return AttrValue(*dtype);
  return {};
}

AttrValue attrValueOf(Attribute attribute, AttrKind kind) {
  if (!attribute)
    return {};
  if (auto boolean = dyn_cast<BoolAttr>(attribute); boolean && kind == AttrKind::Bool)
    return AttrValue(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attribute); integer && kind == AttrKind::I64)
    return AttrValue(int64_t(integer.getValue().getSExtValue()));
  if (auto real = dyn_cast<FloatAttr>(attribute); real && kind == AttrKind::F64)
    return AttrValue(real.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return stringValue(text.getValue(), kind);
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute); list && kind == AttrKind::I64List)
    return AttrValue(list.asArrayRef());
  return {};
}

} // namespace tess::ir
