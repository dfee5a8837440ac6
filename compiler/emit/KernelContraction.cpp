//===- KernelContraction.cpp - a tile of a product, in registers ----------===//
#include "compiler/emit/KernelContraction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess::compiler {

namespace {

/// Groups of the domain.
enum Group : unsigned { Rows, Columns, Lines };

/// Neighbours that share a pointer: x86 addresses have a stride once or twice beside it.
constexpr unsigned kSharePointer = 3;

using Values = LaneBuilder::Values;

class Contraction {
public:
  Contraction(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, bool hasPairs)
      : spec(spec), b(b), pointers(pointers), dims(dims), hasPairs(hasPairs), rows(spec.tile.rows),
        panels(spec.tile.panels) {
    const KernelNode &contract = spec.nodes[spec.stores[0].node];
    lhs = spec.nodes[contract.args[0]].operand;
    rhs = spec.nodes[contract.args[1]].operand;
    out = spec.stores[0].operand;
    pair = contract.dtype != spec.operands[lhs].dtype;
    sum = contract.dtype == DType::Float64 ? Elem::F64 : Elem::F32;
    read = pair ? Elem::I32 : sum;
  }

  void emit(V chunk) {
    base = pointer(out);
    apart = stride(out, Rows);
    each([&](unsigned, mlir::Value to, V) { b.prefetchForWrite(to); });
    Values sums = sumChunk();
    V count = dim(spec.dims().size(Columns)), last = count - b.index(int64_t(panels - 1) * kLanes);
    b.ifElse(
        ge(last, b.index(kLanes)), [&] { return finish(chunk, sums, V()), Values(); },
        [&] {
          V mask = lt(b.iota(Elem::I32), b.splat(b.convert(last, Elem::I32)));
          return finish(chunk, sums, mask), Values();
        });
  }

private:
  V dim(unsigned slot) { return b.load(b.addressConst(dims, slot, Elem::I64), Elem::I64, false); }

  mlir::Value pointer(unsigned operand) { return b.loadPointer(b.addressConst(pointers, operand, Elem::I64)); }

  /// A stride in bytes. That of lines is of pairs where the kernel takes pairs.
  V stride(unsigned operand, Group group) {
    unsigned bytes = operand == unsigned(out) || (group == Lines && pair)
                         ? elemBytes(operand == unsigned(out) ? sum : read)
                         : byteWidth(spec.operands[operand].dtype);
    return dim(spec.dims().stride(operand, group)) * b.index(bytes);
  }

  mlir::Value behind(mlir::Value base, V bytes) { return b.address(base, bytes, Elem::I8); }

  /// Pointers to every third of `count` neighbours.
  void appendPointers(Values &list, unsigned count, mlir::Value base, V apart) {
    for (unsigned first = 0; first < count; first += kSharePointer)
      list.push_back(b.wrap(first ? behind(base, apart * b.index(first)) : base, Elem::I64, false));
  }

  /// Neighbour number `index` of those whose pointers begin `list`.
  mlir::Value neighbour(llvm::ArrayRef<V> list, unsigned index, V apart) {
    mlir::Value base = list[index / kSharePointer].get();
    unsigned rest = index % kSharePointer;
    return rest ? behind(base, apart * b.index(rest)) : base;
  }

  /// Sums the products of all lines. The loop carries the sums, row by row; pointers to rows and to panels; how many
  /// lines are left.
  Values sumChunk() {
    V row = stride(lhs, Rows), panel = stride(rhs, Columns), lhsStep = stride(lhs, Lines), rhsStep = stride(rhs, Lines);
    Values start(size_t(rows) * panels, b.constantBits(sum, true, 0));
    const size_t numSums = start.size();
    appendPointers(start, rows, pointer(lhs), row);
    const size_t numRows = start.size() - numSums;
    appendPointers(start, panels, pointer(rhs), panel);
    start.push_back(dim(spec.dims().size(Lines)));
    auto takeLine = [&](llvm::ArrayRef<V> carried) {
      Values next(carried);
      llvm::ArrayRef<V> rowsAt = carried.slice(numSums, numRows), panelsAt = carried.drop_front(numSums + numRows);
      llvm::SmallVector<V, 8> lines;
      for (unsigned p = 0; p < panels; ++p)
        lines.push_back(b.load(neighbour(panelsAt, p, panel), read, true));
      for (unsigned r = 0; r < rows; ++r) {
        V element = b.splat(b.load(neighbour(rowsAt, r, row), read, false));
        for (unsigned p = 0; p < panels; ++p)
          next[r * panels + p] = dot(element, lines[p], carried[r * panels + p]);
      }
      for (size_t i = numSums; i + 1 < next.size(); ++i) {
        mlir::Value moved = behind(next[i].get(), i < numSums + numRows ? lhsStep : rhsStep);
        next[i] = b.wrap(moved, Elem::I64, false);
      }
      next.back() = next.back() - b.index(1);
      return next;
    };
    Values done = b.loopWhile(
        start, takeLine, [&](llvm::ArrayRef<V> values) { return ne(values.back(), b.index(0)); },
        [](llvm::ArrayRef<V> values) { return Values(values); });
    done.resize(numSums);
    return done;
  }

  /// x * y + total; of a pair, that of the odd element first, then that of the even one.
  V dot(V x, V y, V total) {
    if (!pair)
      return fma(x, y, total);
    if (hasPairs)
      return b.dotPairs(x, y, total);
    auto odd = [&](V bits) { return b.bitcast(bits & bits.ci(0xffff0000), Elem::F32); };
    auto even = [&](V bits) { return b.bitcast(shl(bits, 16), Elem::F32); };
    return fma(even(x), even(y), fma(odd(x), odd(y), total));
  }

  /// Visits each vector of results, by its number, its address and its mask.
  Values each(llvm::function_ref<void(unsigned, mlir::Value, V)> visit, V maskOfLast = V()) {
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned p = 0; p < panels; ++p) {
        mlir::Value line = r ? behind(base, apart * b.index(r)) : base;
        visit(r * panels + p, b.addressConst(line, int64_t(p) * kLanes, sum), p + 1 == panels ? maskOfLast : V());
      }
    return Values();
  }

  /// Writes the sums of the first chunk, and adds those of others to what is there. `mask`: of the last panel.
  void finish(V chunk, llvm::ArrayRef<V> sums, V mask) {
    auto write = [&](V value, mlir::Value to, V part) { part ? b.maskedStore(value, to, part) : b.store(value, to); };
    auto add = [&](unsigned number, mlir::Value to, V part) {
      write((part ? b.maskedLoad(to, part, sum) : b.load(to, sum, true)) + sums[number], to, part);
    };
    b.ifElse(
        eq(chunk, b.index(0)),
        [&] { return each([&](unsigned number, mlir::Value to, V part) { write(sums[number], to, part); }, mask); },
        [&] { return each(add, mask); });
  }

  const KernelSpec &spec;
  LaneBuilder &b;
  const mlir::Value pointers, dims;
  const bool hasPairs;
  const unsigned rows, panels;
  int16_t lhs, rhs, out; // operands
  bool pair;             // a line has two consecutive elements for each column
  Elem sum, read;        // of results, and of 32 or 64 bits of an operand
  mlir::Value base;      // of results
  V apart;               // bytes from row to row of results
};

} // namespace

void emitContraction(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, V chunk,
                     bool hasPairs) {
  Contraction(spec, b, pointers, dims, hasPairs).emit(chunk);
}

} // namespace tess::compiler
