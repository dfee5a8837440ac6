//===- Tensor.cpp - a tensor of eager mode -------------------------------===//
#include "eager/tensor/Tensor.h"

#include "eager/tensor/MemoryReport.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <mutex>

namespace tess::eager {

TensorRef TensorImpl::create(DType dtype, llvm::ArrayRef<int64_t> shape, StorageRef storage) {
  assert(shape.size() <= kMaxRank && "inference limits the rank");
  TensorImpl *tensor = make(dtype, shape.size(), std::move(storage));
  int64_t step = 1;
  for (unsigned i = shape.size(); i-- > 0;) {
    tensor->dims[i] = shape[i];
    tensor->steps[i] = step;
    step *= shape[i];
  }
  return TensorRef(tensor);
}

TensorRef TensorImpl::create(DType dtype, const Layout &layout, StorageRef storage, int64_t offset) {
  TensorImpl *tensor = make(dtype, layout.shape.size(), std::move(storage));
  llvm::copy(layout.shape, tensor->dims);
  llvm::copy(layout.strides, tensor->steps);
  tensor->start = offset + layout.offset;
  tensor->contiguous = layout.isContiguous();
  return TensorRef(tensor);
}

llvm::Expected<TensorRef> TensorImpl::allocate(DType dtype, llvm::ArrayRef<int64_t> shape, runtime::Device &device) {
  int64_t bytes = byteWidth(dtype);
  for (int64_t d : shape)
    if (__builtin_mul_overflow(bytes, d, &bytes))
      return makeError(ErrorCode::ResourceExhausted,
                       "tensor: memory must be available, got shape " + toString(shape) + ", larger than any memory");
  llvm::Expected<StorageRef> storage = Storage::allocate(bytes, device);
  if (!storage)
    return storage.takeError();
  if (LLVM_UNLIKELY(bytes >= kNotedBytes))
    noteLarge(**storage, dtype, shape);
  return create(dtype, shape, std::move(*storage));
}

int64_t TensorImpl::numElements() const {
  int64_t n = 1;
  for (int64_t d : shape())
    n *= d;
  return n;
}

Layout TensorImpl::layout() const {
  Layout layout;
  layout.shape.assign(dims, dims + numAxes);
  layout.strides.assign(steps, steps + numAxes);
  layout.offset = start;
  return layout;
}

void TensorImpl::copyValue(const TensorImpl &other) {
  elementType = other.elementType;
  numAxes = other.numAxes;
  contiguous = other.contiguous;
  traitBits = other.traitBits;
  start = other.start;
  std::copy(other.dims, other.dims + other.numAxes, dims);
  std::copy(other.steps, other.steps + other.numAxes, steps);
  setGrid(other.grid());
  copyTags(other);
}

void TensorImpl::copyTags(const TensorImpl &other) {
  gradTag = other.gradTag;
  traceTag = other.traceTag;
  if (other.extra && !other.extra->moreTags.empty())
    extras().moreTags = other.extra->moreTags;
  else if (extra)
    extra->moreTags.clear();
}

TensorRef TensorImpl::dup() const {
  TensorImpl *tensor = make(elementType, numAxes, memory);
  tensor->copyValue(*this);
  return TensorRef(tensor);
}

void TensorImpl::setGrid(std::shared_ptr<const Grid> grid) {
  traitBits = uint8_t(grid ? traitBits | kOnGrid : traitBits & ~kOnGrid);
  if (grid || extra)
    extras().grid = std::move(grid);
}

void TensorImpl::rebind(const TensorImpl &other) {
  if (this == &other)
    return;
  copyValue(other);
  memory = other.memory;
}

void TensorImpl::takeTags(const TensorImpl &other) {
  copyTags(other);
  setGrid(other.grid());
  gradTag.version = memory->version();
  for (Tag &tag : extra ? llvm::MutableArrayRef<Tag>(extra->moreTags) : llvm::MutableArrayRef<Tag>())
    tag.version = memory->version();
}

const Tag *TensorImpl::gradTagOf(uint32_t owner) const {
  if (gradTag.owner == owner)
    return &gradTag;
  if (extra)
    for (const Tag &tag : extra->moreTags)
      if (tag.owner == owner)
        return &tag;
  return nullptr;
}

void TensorImpl::setGradId(uint32_t owner, uint32_t id, bool (*isLive)(uint32_t)) {
  Tag made{owner, id, memory->version()};
  if (gradTag.owner == owner || !gradTag.owner || !isLive(gradTag.owner)) {
    gradTag = made;
    return;
  }
  auto &more = extras().moreTags;
  for (Tag &tag : more)
    if (tag.owner == owner || !isLive(tag.owner)) {
      tag = made;
      return;
    }
  more.push_back(made);
}

void TensorImpl::clearGradIds() {
  gradTag = {};
  if (extra)
    extra->moreTags.clear();
}

const TensorRef &TensorImpl::grad() const {
  static const TensorRef none;
  return extra ? extra->grad : none;
}

void TensorImpl::setGrad(TensorRef grad) {
  if (grad || extra)
    extras().grad = std::move(grad);
}

TensorExtra &TensorImpl::extras() {
  if (!extra)
    extra = new TensorExtra;
  return *extra;
}

/// A variable until it dies.
class TensorLife {
public:
  explicit TensorLife(TensorImpl &variable) : variable(&variable) {}
  void end() {
    std::lock_guard lock(mutex);
    variable = nullptr;
  }
  bool isOf(const TensorImpl &other) const { return variable == &other; }
  TensorRef lock() {
    std::lock_guard lock(mutex); // the variable cannot be freed meanwhile
    TensorImpl *living = variable;
    if (!living || !living->tryRetain())
      return nullptr;
    TensorRef taken(living);
    living->Release();
    return taken;
  }

private:
  std::mutex mutex;
  std::atomic<TensorImpl *> variable;
};

const std::shared_ptr<TensorLife> &TensorImpl::life() {
  std::shared_ptr<TensorLife> &life = extras().life;
  if (!life)
    life = std::make_shared<TensorLife>(*this);
  return life;
}

TensorImpl::~TensorImpl() {
  if (extra && extra->life)
    extra->life->end();
  delete extra;
}

void TensorImpl::destroy() {
  this->~TensorImpl();
  poolFree(this, sizeof(TensorImpl));
}

bool TensorImpl::tryRetain() {
  int32_t count = refs.load(std::memory_order_relaxed);
  while (count > 0)
    if (refs.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel))
      return true;
  return false;
}

bool WeakTensor::is(const TensorImpl &variable) const { return life && life->isOf(variable); }
TensorRef WeakTensor::lock() const { return life ? life->lock() : nullptr; }

int64_t savedTripsOf(const TensorImpl &grown) {
  int64_t bytes = grown.numElements() * byteWidth(grown.dtype());
  return bytes ? grown.storage().bytes() / bytes : INT64_MAX;
}

} // namespace tess::eager
