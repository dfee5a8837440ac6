//===- Tensor.h - a tensor of eager mode ------------------------*- C++ -*-===//
//
// A TensorImpl is a variable: what a user's name refers to. Its value (dtype,
// layout, storage, tags) is replaced as a whole by rebind(); storages are only
// written in place when nobody else sees them, or through a version counter.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/BlockPool.h"
#include "eager/tensor/Storage.h"
#include "ops/vocabulary/TensorMeta.h"

#include <memory>
#include <new>

namespace tess::eager {

class TensorImpl;
class TensorLife;
/// A counted reference to a variable; any thread may hold one.
using TensorRef = llvm::IntrusiveRefCntPtr<TensorImpl>;
/// Operands or results; null where one is missing.
using Tensors = llvm::SmallVector<TensorRef, 2>;

/// Says which value of a tape or recording a tensor is. Owners have ids that are never used again, so a tag of a dead
/// owner means nothing and may be overwritten.
struct Tag {
  uint32_t owner = 0; // 0: none
  uint32_t id = 0;
  uint32_t version = 0; // of the memory when it held that value
};

/// The order of axes that the user means by this tensor's memory.
enum class Format : uint8_t { Default, ChannelsLast };

/// Says that a value's numbers are `(q - zero point) * scale` of integers q that the quantized `kind` stores.
struct Grid {
  DType kind;
  TensorRef scale, zeroPoint; // float32 and int32, of one element
};

/// What only few tensors have: names, gradients, tags of more than one tape, weak references.
struct TensorExtra {
  std::string name;
  TensorRef grad;
  llvm::SmallVector<Tag, 2> moreTags; // part of the value, and so is the grid
  std::shared_ptr<const Grid> grid;
  std::shared_ptr<TensorLife> life; // what weak references to the variable share
};

/// A variable: a value, and what belongs to the variable itself (name, gradient, wrapper). One thread at a time, but
/// for the reference count.
class TensorImpl {
public:
  /// A new tensor over `storage`, row-major.
  static TensorRef create(DType dtype, llvm::ArrayRef<int64_t> shape, StorageRef storage);
  /// A new tensor over `storage` with a layout of its own (a view), `offset` elements behind the layout's.
  static TensorRef create(DType dtype, const Layout &layout, StorageRef storage, int64_t offset = 0);
  /// A new tensor with uninitialised memory of its own on `device`.
  static llvm::Expected<TensorRef> allocate(DType dtype, llvm::ArrayRef<int64_t> shape, runtime::Device &device);

  /// The value: dtype, sizes, strides and offset in elements, and whether its elements lie row-major without gaps.
  DType dtype() const { return elementType; }
  unsigned rank() const { return numAxes; }
  llvm::ArrayRef<int64_t> shape() const { return {dims, numAxes}; }
  llvm::ArrayRef<int64_t> strides() const { return {steps, numAxes}; }
  int64_t offset() const { return start; }
  bool isContiguous() const { return contiguous; }
  int64_t numElements() const;
  Storage &storage() const { return *memory; }
  const StorageRef &storageRef() const { return memory; }
  /// Address of the first element.
  char *data() const { return memory->data() + start * byteWidth(elementType); }
  TensorMeta meta() const { return TensorMeta(elementType, shape()); }
  /// meta() == other, without a copy.
  bool hasMeta(const TensorMeta &other) const {
    return elementType == other.dtype && shape() == llvm::ArrayRef<int64_t>(other.shape);
  }
  Layout layout() const;
  Format format() const { return traitBits & kChannelsLast ? Format::ChannelsLast : Format::Default; }
  void setFormat(Format f) {
    traitBits = uint8_t((traitBits & ~kChannelsLast) | (f == Format::ChannelsLast ? kChannelsLast : 0));
  }
  /// The grid of the numbers; null: they may be any.
  std::shared_ptr<const Grid> grid() const { return traitBits & kOnGrid ? extra->grid : nullptr; }
  void setGrid(std::shared_ptr<const Grid> grid);
  /// Whether it stands for a value of a graph that is edited, and has no memory (GraphValue.h).
  bool isGraphValue() const { return traitBits & kGraphValue; }
  void setGraphValue() { traitBits |= kGraphValue; }
  /// What calls ask of all operands at once: 0 for most.
  static constexpr uint8_t kChannelsLast = 1, kGraphValue = 2, kOnGrid = 4;
  uint8_t traits() const { return traitBits; }

  /// Another tensor with the same value: shares storage and tags, has no name or gradient.
  TensorRef dup() const;
  /// Takes over the value of `other` (its tags too); name, gradient and wrapper stay.
  void rebind(const TensorImpl &other);

  /// The tag that `owner` gave to this value; null: none.
  const Tag *gradTagOf(uint32_t owner) const;
  /// The id that `owner` gave to this value; 0: none.
  uint32_t gradId(uint32_t owner) const {
    const Tag *tag = gradTagOf(owner);
    return tag ? tag->id : 0;
  }
  /// Tags the value; `isLive` says of an owner whether its tags still count (others are dropped).
  void setGradId(uint32_t owner, uint32_t id, bool (*isLive)(uint32_t));
  void clearGradIds();
  bool hasGradTags() const { return gradTag.owner != 0; }
  /// Takes the tags and the grid of `other`, whose value the memory holds now.
  void takeTags(const TensorImpl &other);
  Tag traceTag;

  /// Name and gradient of the variable, not of its value; empty and null when there is none.
  llvm::StringRef name() const { return extra ? llvm::StringRef(extra->name) : llvm::StringRef(); }
  void setName(llvm::StringRef name) { extras().name = name.str(); }
  const TensorRef &grad() const;
  void setGrad(TensorRef grad);
  /// What weak references to the variable share.
  const std::shared_ptr<TensorLife> &life();

  /// The frontend's object for this tensor, not owned; the frontend clears it when the object dies.
  void *wrapper = nullptr;

  /// Whether there is only one reference to the variable.
  bool isUnique() const { return refs.load(std::memory_order_acquire) == 1; }
  void Retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  /// As Retain(), unless the last reference is gone.
  bool tryRetain();
  void Release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }

private:
  TensorImpl(DType dtype, unsigned rank, StorageRef storage)
      : elementType(dtype), numAxes(uint8_t(rank)), memory(std::move(storage)) {}
  ~TensorImpl();
  void destroy(); // not inline, so that Release() is
  static TensorImpl *make(DType dtype, unsigned rank, StorageRef storage) {
    return new (poolAllocate(sizeof(TensorImpl))) TensorImpl(dtype, rank, std::move(storage));
  }
  TensorExtra &extras();
  void copyValue(const TensorImpl &other);
  void copyTags(const TensorImpl &other);

  std::atomic<int32_t> refs = 0;
  DType elementType;
  uint8_t numAxes;
  bool contiguous = true;
  uint8_t traitBits = 0; // part of the value
  Tag gradTag;
  StorageRef memory;
  int64_t start = 0; // elements
  TensorExtra *extra = nullptr;
  int64_t dims[kMaxRank];
  int64_t steps[kMaxRank];
};

/// A reference to a variable that does not keep it alive. Any thread may hold one, and let it go.
class WeakTensor {
public:
  WeakTensor() = default;
  explicit WeakTensor(TensorImpl &variable) : life(variable.life()) {}
  /// Whether it refers to this variable.
  bool is(const TensorImpl &variable) const;
  /// The variable; null when it is gone, or there never was one.
  TensorRef lock() const;

private:
  std::shared_ptr<TensorLife> life;
};

/// For how many trips of a loop a grown value (ops/graphs/Control.h) has memory: as often as its one element of axis 0
/// fits.
int64_t savedTripsOf(const TensorImpl &grown);

} // namespace tess::eager
