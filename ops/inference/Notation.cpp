//===- Notation.cpp - the sizes of results in index notation -------------===//
#include "ops/inference/Notation.h"

#include "ops/inference/ChannelRules.h"
#include "ops/inference/NotationWords.h"
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"
#include "ops/inference/WindowCount.h"
#include "llvm/ADT/STLExtras.h"

namespace tess {

using namespace shapes;

static constexpr int kOpenRank = -1;
static constexpr int64_t kNoSize = -1;

/// Finds the axes and sizes of all accesses, operand by operand.
class NotationBinder {
public:
  NotationBinder(const OpDef &op, llvm::ArrayRef<TensorMeta> operands)
      : op(op), notation(*op.info().notation), operands(operands), ranks(notation.symbols.size(), kOpenRank) {}

  llvm::Expected<BoundNotation> run() {
    bound.sizes.resize(notation.symbols.size());
    for (auto [symbol, info] : llvm::enumerate(notation.symbols))
      if (!info.isPack)
        setRank(symbol, 1);
      else if (info.extent >= 0)
        setRank(symbol, op.attr(unsigned(info.extent)).ints().size());
    for (const NotationAccess &read : notation.reads) {
      NotationAxes &axes = bound.reads.emplace_back();
      if (read.value >= operands.size())
        continue;
      if (llvm::Error error = axesAt(read, operands[read.value].rank()).moveInto(axes))
        return std::move(error);
      if (llvm::Error error = measure(read.value, axes))
        return std::move(error);
    }
    if (llvm::Error error = axesAt(notation.result, countOf(notation.result)).moveInto(bound.result))
      return std::move(error);
    for (NotationAxis &axis : bound.result)
      llvm::erase_if(axis.dims, [&](NotationDim dim) { return bound.sizeOf(dim) == 1 && !isRead(dim); });
    if (needsRoom())
      return mustHoldOf(op, notation::kFewDimensions, listed());
    return std::move(bound);
  }

private:
  std::string listed() const {
    std::string text;
    for (auto [index, operand] : llvm::enumerate(operands))
      text += (index ? " and " : "") + std::string(op.info().operands[index].name) + " " + toString(operand);
    return text;
  }

  void setRank(size_t symbol, size_t rank) {
    if (ranks[symbol] != kOpenRank)
      return;
    ranks[symbol] = int(rank);
    int attr = notation.symbols[symbol].extent;
    bound.sizes[symbol].assign(rank, kNoSize);
    for (size_t number = 0; attr >= 0 && number < rank; ++number)
      bound.sizes[symbol][number] =
          notation.symbols[symbol].isPack ? op.attr(unsigned(attr)).ints()[number] : op.attr(unsigned(attr)).i64();
  }

  bool isPack(const NotationPlace &place) const { return notation.symbols[place.digits[0]].isPack; }
  /// The number of axes of a place, kOpenRank while it is not known.
  int countOf(const NotationPlace &place) const {
    int count = 0;
    for (uint8_t symbol : place.digits)
      if (ranks[symbol] == kOpenRank)
        return kOpenRank;
      else
        count = std::max(count, ranks[symbol]);
    return count;
  }
  /// The axes that an attribute lists for a pack; none where it says how many last ones.
  const IntList *axesFor(const NotationPlace &place) const {
    bool isList = place.axis >= 0 && op.attr(unsigned(place.axis)).kind() == AttrKind::I64List;
    return isList ? &op.attr(unsigned(place.axis)).ints() : nullptr;
  }

  /// The number of axes of an access whose packs have their ranks.
  int countOf(const NotationAccess &access) const {
    int count = 0;
    for (const NotationPlace &place : access.places)
      count += countOf(place);
    return count;
  }

  /// Settles the ranks of packs that this access has first. Of two open ones a dimension that an attribute places
  /// stands between them.
  void settle(const NotationAccess &access, int rank) {
    for (const NotationPlace &place : access.places)
      if (place.isWindow)
        setRank(place.digits[0], ranks[place.digits[1]]); // a position for each element's
    for (const NotationPlace &place : access.places)
      if (place.axis >= 0 && isPack(place)) {
        const IntList *axes = axesFor(place);
        setRank(place.digits[0], axes ? (axes->empty() ? rank : axes->size()) : op.attr(unsigned(place.axis)).i64());
      }
    auto isPlaced = [&](const NotationPlace &place) { return place.axis >= 0 && !isPack(place); };
    const NotationPlace *placed = llvm::find_if(access.places, isPlaced);
    if (placed != access.places.end())
      settleRow(llvm::ArrayRef(access.places.begin(), placed),
                int(fromFront(op.attr(unsigned(placed->axis)).i64(), rank)));
    settleRow(access.places, rank);
  }

  /// Gives the open pack among neighbours that have `rank` axes together what the others leave.
  void settleRow(llvm::ArrayRef<NotationPlace> places, int rank) {
    const NotationPlace *open = nullptr;
    for (const NotationPlace &place : places) {
      int count = countOf(place);
      open = count == kOpenRank ? &place : open;
      rank -= count == kOpenRank ? 0 : count;
    }
    if (open)
      setRank(open->digits[0], std::max(rank, 0));
  }

  llvm::Error rankError(const NotationAccess &access, int rank) {
    auto isBeyond = [&](const NotationPlace &place) {
      return place.axis >= 0 && isPack(place) && !axesFor(place) && ranks[place.digits[0]] > rank;
    };
    const NotationPlace *beyond = llvm::find_if(access.places, isBeyond);
    return mustHoldOf(op, beyond == access.places.end() ? access.must : beyond->must, listed());
  }

  /// The axes of an access to a value of rank `rank`: those that a list names, then the others in their order.
  llvm::Expected<NotationAxes> axesAt(const NotationAccess &access, int rank) {
    settle(access, rank);
    if (countOf(access) != rank)
      return rankError(access, rank);
    NotationAxes axes(rank);
    for (const NotationPlace &place : access.places)
      if (const IntList *listed = axesFor(place))
        for (auto [number, axis] : llvm::enumerate(*listed))
          axes[fromFront(axis, rank)] = axisOf(place, number);
    NotationAxis *next = axes.begin();
    auto nextFree = [&] {
      return std::find_if(next, axes.end(), [](const NotationAxis &axis) { return !axis.place; });
    };
    for (const NotationPlace &place : access.places)
      for (int number = 0; number < countOf(place); ++number)
        if (const IntList *listed = axesFor(place); !listed || listed->empty()) {
          next = nextFree();
          *next = axisOf(place, number);
        }
    return axes;
  }

  /// The dimensions of axis `number` of a place; packs side by side are aligned at their ends.
  NotationAxis axisOf(const NotationPlace &place, int number) const {
    NotationAxis axis{{}, &place};
    int count = countOf(place);
    for (uint8_t symbol : place.digits)
      if (int own = number - (count - ranks[symbol]); own >= 0)
        axis.dims.push_back({symbol, uint8_t(own)});
    return axis;
  }

  llvm::Error measure(unsigned operand, llvm::ArrayRef<NotationAxis> axes) {
    for (auto [axis, size] : llvm::zip_equal(axes, operands[operand].shape))
      if (llvm::Error error = measureAxis(operand, axis, size))
        return error;
    return llvm::Error::success();
  }

  /// Splits an axis into its dimensions, of which one may be open.
  llvm::Error measureAxis(unsigned operand, const NotationAxis &axis, int64_t size) {
    if (axis.place->isWindow)
      return measureWindows(axis, size);
    int64_t known = axis.place->parts;
    if (axis.dims.size() == 1 && known == 1)
      return unify(axis.dims[0], size);
    int64_t *open = nullptr;
    for (NotationDim dim : axis.dims) {
      int64_t &own = bound.sizes[dim.symbol][dim.number];
      if (own == kNoSize)
        open = &own;
      else
        known = sizes::multiply(known, own);
    }
    if (axis.dims.size() > 1)
      bound.joined.push_back({axis, size});
    bool isNumber = size != kUnknown && known != kUnknown && !sizes::isSymbolic({size, known});
    if (isNumber && (known == 0 ? size != 0 : size % known != 0))
      return mustHold(op, axis.place->must, operands, operand);
    if (open)
      *open = known == 0 ? 0 : sizes::floorDivide(size, known);
    else if (differs(size, known))
      return mustHold(op, axis.place->must, operands, operand);
    return llvm::Error::success();
  }

  /// Counts the windows along an axis.
  llvm::Error measureWindows(const NotationAxis &axis, int64_t size) {
    NotationDim position = axis.dims[0], element = axis.dims[1];
    WindowAxis window = BoundNotation::windowOf(op, *axis.place, position.number, bound.sizeOf(element));
    if (window.padding >= window.size)
      return mustHoldOf(op, notation::kPaddingBelowWindow, shownWindows(*axis.place));
    int64_t &count = bound.sizes[position.symbol][position.number];
    count = windows::count(size, window);
    if (count != -1)
      return llvm::Error::success();
    return mustHoldOf(op, notation::kWindowFits, listed() + ", " + shownWindows(*axis.place));
  }
  /// "kernel_size [2, 2] and padding [0, 0]".
  std::string shownWindows(const NotationPlace &place) const {
    auto shown = [&](int attr) { return op.info().attrs[attr].name + (" " + op.attr(unsigned(attr)).toText()); };
    std::string text = shown(notation.symbols[place.digits[1]].extent);
    return place.padding < 0 ? text : text + " and " + shown(place.padding);
  }

  llvm::Error unify(NotationDim dim, int64_t size) {
    int64_t &known = bound.sizes[dim.symbol][dim.number];
    if (known == kNoSize || known == kUnknown)
      known = size;
    else if (differs(known, size))
      return mustHoldOf(op, notation.symbols[dim.symbol].must, listed());
    else if (size != kUnknown)
      known = sizes::agreed(known, size);
    return llvm::Error::success();
  }

  bool isRead(NotationDim dim) const {
    auto has = [&](const NotationAxis &axis) { return llvm::is_contained(axis.dims, dim); };
    return llvm::any_of(bound.reads, [&](const NotationAxes &axes) { return llvm::any_of(axes, has); });
  }

  /// Whether the graph needs more axes than there may be: all dimensions that are read side by side, or the result with
  /// one more, along which it repeats.
  bool needsRoom() const {
    llvm::SmallVector<NotationDim, 8> all;
    for (const NotationAxes &axes : bound.reads)
      for (const NotationAxis &axis : axes)
        for (NotationDim dim : axis.dims)
          if (axis.place->index < 0 && !llvm::is_contained(all, dim))
            all.push_back(dim);
    auto repeats = [&](const NotationAxis &axis) {
      return axis.dims.size() > 1 && !llvm::all_of(axis.dims, [&](NotationDim dim) { return isRead(dim); });
    };
    return all.size() > size_t(kMaxRank) + notation.spared ||
           (bound.result.size() == kMaxRank && llvm::any_of(bound.result, repeats));
  }

  const OpDef &op;
  const Notation &notation;
  llvm::ArrayRef<TensorMeta> operands;
  std::vector<int> ranks; // by symbol
  BoundNotation bound;
};

WindowAxis BoundNotation::windowOf(const OpDef &op, const NotationPlace &place, int number, int64_t size) {
  auto numberOf = [&](int attr, int64_t missing) {
    if (attr < 0)
      return missing;
    const AttrValue &value = op.attr(unsigned(attr));
    return value.kind() == AttrKind::I64List ? value.ints()[number] : value.i64();
  };
  return {size, numberOf(place.stride, 1), numberOf(place.padding, 0), numberOf(place.dilation, 1)};
}

llvm::Expected<BoundNotation> BoundNotation::of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  return NotationBinder(op, operands).run();
}

Shape BoundNotation::resultShape() const {
  Shape shape;
  for (const NotationAxis &axis : result) {
    // An axis that an operand has is as long as there, though it may not show in the product of its parts.
    auto isSame = [&](const auto &pair) { return llvm::ArrayRef(pair.first.dims) == llvm::ArrayRef(axis.dims); };
    if (auto *found = llvm::find_if(joined, isSame); found != joined.end()) {
      shape.push_back(found->second);
      continue;
    }
    Shape sizes(llvm::map_range(axis.dims, [&](NotationDim dim) { return sizeOf(dim); }));
    shape.push_back(TensorMeta(DType::Float32, sizes).numElements());
  }
  return shape;
}

llvm::Expected<Metas> shapes::ofNotation(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                         llvm::ArrayRef<unsigned>) {
  llvm::Expected<BoundNotation> bound = BoundNotation::of(op, operands);
  if (!bound)
    return bound.takeError();
  return single(operands, bound->resultShape());
}

int channels::ofNotation(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int axis, unsigned) {
  llvm::Expected<BoundNotation> bound = BoundNotation::of(op, operands);
  if (!bound)
    return llvm::consumeError(bound.takeError()), -1;
  auto isSame = [&](const NotationAxis &made) { return made.dims == bound->axesOf(0)[axis].dims; };
  auto *found = llvm::find_if(bound->resultAxes(), isSame);
  return found == bound->resultAxes().end() ? -1 : int(found - bound->resultAxes().begin());
}

} // namespace tess
