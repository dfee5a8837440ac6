//===- Contents.cpp - the bytes of constants ------------------------------===//
#include "ir/Contents.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tess::ir {

static ContentHolders &holdersOf(MLIRContext *context) {
  return *const_cast<ContentHolders *>(context->getLoadedDialect("tess")->getRegisteredInterface<ContentHolders>());
}

DenseResourceElementsAttr contentOf(ShapedType type, StringRef key, const runtime::HeldBytes &bytes) {
  if (!isLarge(bytes->size()))
    return contentOf(type, key, StringRef(*bytes));
  holdersOf(type.getContext()).add(bytes);
  ArrayRef<char> data(bytes->data(), bytes->size());
  return DenseResourceElementsAttr::get(type, key, UnmanagedAsmResourceBlob::allocateWithAlign(data, 1));
}

DenseResourceElementsAttr contentOf(ShapedType type, StringRef key, StringRef bytes) {
  if (isLarge(bytes.size()))
    return contentOf(type, key, runtime::holdCopy(bytes));
  ArrayRef<char> data(bytes.data(), bytes.size());
  return DenseResourceElementsAttr::get(
      type, key, HeapAsmResourceBlob::allocateAndCopyWithAlign(data, runtime::kConstantAlignment));
}

StringRef bytesOf(DenseResourceElementsAttr content) {
  ArrayRef<char> data = content.getRawHandle().getBlob()->getData();
  return {data.data(), data.size()};
}

runtime::HeldBytes holderOf(DenseResourceElementsAttr content) {
  return holdersOf(content.getContext()).find(bytesOf(content));
}

} // namespace tess::ir
