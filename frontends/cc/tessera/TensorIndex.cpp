//===- TensorIndex.cpp - Python's x[...] ----------------------------------===//
#include "tessera/functional.h"

#include "eager/subscript/Subscript.h"
#include "eager/tensor/Placement.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tessera {

namespace eager = tess::eager;

/// The bounds of a slice; an end that is not given is beyond the axis.
static eager::SliceBounds boundsOf(const Slice &slice) {
  if (slice.step == 0)
    throw Error(ErrorCode::InvalidArgument, "index: the step of a slice must not be 0, got 0");
  bool isForward = slice.step > 0;
  return {slice.start.value_or(isForward ? 0 : INT64_MAX), slice.stop.value_or(isForward ? INT64_MAX : INT64_MIN),
          slice.step};
}

static eager::KeyItem itemOf(const Index &index) {
  switch (index.kind) {
  case Index::Integer:
    return eager::KeyItem::integer(index.integer, index.integer);
  case Index::Range:
    return eager::KeyItem::slice(boundsOf(index.slice), boundsOf(index.slice));
  case Index::Axis:
    return eager::KeyItem::newAxis();
  case Index::Rest:
    return eager::KeyItem::ellipsis();
  case Index::Elements:
    return valueOrThrow(eager::KeyItem::ofArray(index.elements.ref(), /*isKnown=*/false, "index"));
  }
  llvm_unreachable("a kind of index");
}

static eager::Key keyOf(eager::TensorImpl &x, llvm::ArrayRef<Index> items) {
  return valueOrThrow(eager::readKey(x, llvm::map_to_vector(items, itemOf), "index"));
}

Tensor Tensor::index(llvm::ArrayRef<Index> items) const {
  eager::TensorRef x = ref();
  eager::OnDevice here(x->storage().device()); // where arrays of the key are made
  return Tensor(valueOrThrow(eager::getItem(*x, keyOf(*x, items))));
}

void Tensor::setIndex(llvm::ArrayRef<Index> items, const Tensor &value) const {
  eager::TensorRef x = ref();
  eager::OnDevice here(x->storage().device());
  checkOrThrow(eager::setItem(*x, keyOf(*x, items), value.ref()));
}

} // namespace tessera
