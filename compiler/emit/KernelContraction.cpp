//===- KernelContraction.cpp - a tile of a product, in registers ----------===//
#include "compiler/emit/KernelContraction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess::compiler {

namespace {

/// Groups of the domain before those of lines.
enum Group : unsigned { Rows, Columns, Groups };

/// Neighbours that share a pointer: x86 addresses have a stride once or twice beside it.
constexpr unsigned kSharePointer = 3;

using Values = LaneBuilder::Values;

/// Bytes ahead of a line that comes from memory at which the machine is told to fetch. It finds the lines by itself,
/// but too late: measured, 2 KiB ahead gave 0.85 of the memory's rate, 8 KiB all of it.
constexpr int64_t kFetchAhead = 8192, kCacheLine = 64;
/// Lines ahead of one that several rows read, which the first tile of a block gets from beyond the second level: 16 and
/// 32 gave half and three quarters of the time that 64 saved (0.1 of ResNet-50's), and a single row gained nothing.
constexpr int64_t kLinesAhead = 64;

class Contraction {
public:
  Contraction(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims,
              const ContractInstructions &instructions)
      : spec(spec), form(contractForm(spec)), products(form, instructions, b), b(b), pointers(pointers), dims(dims),
        rows(spec.tile.rows), panels(spec.tile.panels), lines(spec.numGroups() - 1), sum(products.resultElem()) {}

  void emit(V chunk) {
    base = pointer(form.out);
    apart = stride(form.out, Rows);
    panelApart = stride(form.out, Columns);
    each([&](unsigned, mlir::Value to, V) { b.prefetchForWrite(to); });
    row = stride(form.lhs, Rows);
    panel = stride(form.rhs, Columns);
    Values sums = products.streams() ? sumGroups() : sumLines(start(), dim(spec.dims().size(lines)));
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

  mlir::Value pointer(int16_t operand) { return b.loadPointer(b.addressConst(pointers, operand, Elem::I64)); }

  /// A stride in bytes.
  V stride(int16_t operand, unsigned group) {
    bool isWords = group == lines && products.countsWords() && operand != form.out;
    int64_t bytes = isWords ? products.columnBytes() : byteWidth(spec.operands[operand].dtype);
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

  /// Pointers to rows, then to panels.
  Values start() {
    Values list;
    appendPointers(list, rows, pointer(form.lhs), row);
    numRows = list.size();
    appendPointers(list, panels, pointer(form.rhs), panel);
    return list;
  }

  /// Moves pointers of start() to the next line or group.
  void advance(llvm::MutableArrayRef<V> list, V lhsStep, V rhsStep) {
    for (auto [i, each] : llvm::enumerate(list))
      each = b.wrap(behind(each.get(), i < numRows ? lhsStep : rhsStep), Elem::I64, false);
  }

  static V isMore(llvm::ArrayRef<V> values) { return ne(values.back(), values.back().ci(0)); }
  static Values again(llvm::ArrayRef<V> values) { return Values(values); }

  /// The sums before the first of `count` lines.
  Values firstSums(llvm::ArrayRef<V> from, V count, V lhsStep, V rhsStep) {
    Values sums;
    if (products.startsFromRows())
      for (unsigned r = 0; r < rows; ++r)
        sums.append(panels, b.splat(b.load(behind(neighbour(from, r, row), count * lhsStep), Elem::I32, false)));
    else if (!products.startsFromMemory())
      sums.append(size_t(rows) * panels, b.constantBits(sum, true, 0));
    if (!sums.empty())
      return sums;
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned p = 0; p < panels; ++p)
        sums.push_back(b.load(behind(neighbour(from.drop_front(numRows), p, panel), count * rhsStep), sum, true));
    return sums;
  }

  /// Sums the products of `count` lines. The loop carries the sums, row by row; the pointers; how many lines are left.
  Values sumLines(llvm::ArrayRef<V> from, V count) {
    V lhsStep = stride(form.lhs, lines), rhsStep = stride(form.rhs, lines);
    ahead = bytesAhead(count, rhsStep);
    Values start = firstSums(from, count, lhsStep, rhsStep);
    const size_t numSums = start.size();
    start.append(from.begin(), from.end());
    start.push_back(count);
    auto takeLine = [&](llvm::ArrayRef<V> carried) {
      Values next(carried);
      addLine(llvm::MutableArrayRef<V>(next).take_front(numSums), carried.drop_front(numSums));
      advance(llvm::MutableArrayRef<V>(next).drop_front(numSums).drop_back(), lhsStep, rhsStep);
      next.back() = next.back() - b.index(1);
      return next;
    };
    Values done = b.loopWhile(start, takeLine, isMore, again);
    done.resize(numSums);
    return done;
  }

  /// Returns how far ahead of a line another one is fetched: the next panel follows a packed one, but nothing follows
  /// the last line of an operand in place, so that one with few lines has none to fetch.
  V bytesAhead(V count, V rhsStep) {
    V bytes = rhsStep * b.index(kLinesAhead), isPacked = eq(rhsStep, b.index(int64_t(kLanes) * products.columnBytes()));
    return select(isPacked, bytes, select(gt(count, b.index(kLinesAhead)), bytes, b.index(0)));
  }

  /// Adds the products of a line, at the pointers `at`, to the sums.
  void addLine(llvm::MutableArrayRef<V> sums, llvm::ArrayRef<V> at) {
    if (products.startsFromRows())
      return addPanels(sums, at);
    llvm::SmallVector<V, 8> read;
    for (unsigned p = 0; p < panels; ++p)
      read.push_back(readLine(at, p));
    for (unsigned step = 0; step < products.steps(); ++step)
      rows == 1 || !products.streams() ? addRows(sums, at, read, step) : addColumns(sums, at, read, step);
  }

  /// One panel after the other, since words and what is made of them take four registers, and loads stay where they are
  /// among those that fetch.
  void addPanels(llvm::MutableArrayRef<V> sums, llvm::ArrayRef<V> at) {
    llvm::SmallVector<LineProducts::Words, 8> elements;
    for (unsigned r = 0; r < rows; ++r)
      elements.push_back(rowElement(at, r, 0));
    for (unsigned p = 0; p < panels; ++p) {
      LineProducts::Words columns = products.columns(readLine(at, p), 0);
      for (unsigned r = 0; r < rows; ++r)
        sums[r * panels + p] = products.add(elements[r], columns, sums[r * panels + p]);
    }
  }

  V readLine(llvm::ArrayRef<V> at, unsigned p) {
    mlir::Value line = neighbour(at.drop_front(numRows), p, panel);
    if (int64_t(p) * kLanes * products.columnBytes() % kCacheLine == 0)
      fetchAhead(line);
    return products.line(line);
  }

  void fetchAhead(mlir::Value line) {
    if (products.streams())
      b.prefetchForRead(b.addressConst(line, kFetchAhead, Elem::I8));
    else if (rows > 1)
      b.prefetchForRead(behind(line, ahead));
  }

  LineProducts::Words rowElement(llvm::ArrayRef<V> at, unsigned r, unsigned step) {
    return products.row(b.addressConst(neighbour(at, r, row), int64_t(step) * products.rowBytes(), Elem::I8));
  }

  /// One element of a row at a time is in registers.
  void addRows(llvm::MutableArrayRef<V> sums, llvm::ArrayRef<V> at, llvm::ArrayRef<V> read, unsigned step) {
    for (unsigned r = 0; r < rows; ++r) {
      LineProducts::Words element = rowElement(at, r, step);
      for (unsigned p = 0; p < panels; ++p)
        sums[r * panels + p] = products.add(element, products.columns(read[p], step), sums[r * panels + p]);
    }
  }

  /// One vector of columns at a time is in registers, since each is converted.
  void addColumns(llvm::MutableArrayRef<V> sums, llvm::ArrayRef<V> at, llvm::ArrayRef<V> read, unsigned step) {
    llvm::SmallVector<LineProducts::Words, 4> elements;
    for (unsigned r = 0; r < rows; ++r)
      elements.push_back(rowElement(at, r, step));
    for (unsigned p = 0; p < panels; ++p) {
      LineProducts::Words columns = products.columns(read[p], step);
      for (unsigned r = 0; r < rows; ++r)
        sums[r * panels + p] = products.add(elements[r], columns, sums[r * panels + p]);
    }
  }

  /// Adds the sum of each group, multiplied by its scales. The loop carries the totals, row by row; the pointers; those
  /// to scales; how many groups are left.
  Values sumGroups() {
    V lhsStep = stride(form.lhs, Groups), rhsStep = stride(form.rhs, Groups), scaleStep = stride(form.scale, Groups);
    V scalePanel = stride(form.scale, Columns), count = dim(spec.dims().size(lines));
    Values first(size_t(rows) * panels, b.constantBits(sum, true, 0)), from = start();
    const size_t numSums = first.size(), numPointers = from.size();
    first.append(from);
    appendPointers(first, panels, pointer(form.scale), scalePanel);
    first.push_back(dim(spec.dims().size(Groups)));
    auto takeGroup = [&](llvm::ArrayRef<V> carried) {
      Values next(carried), sums = sumLines(carried.slice(numSums, numPointers), count);
      for (unsigned p = 0; p < panels; ++p) {
        mlir::Value line = neighbour(carried.drop_front(numSums + numPointers), p, scalePanel);
        b.prefetchForRead(b.addressConst(line, kFetchAhead, Elem::I8));
        V scale = b.load(line, sum, true);
        for (unsigned i = p; i < numSums; i += panels)
          next[i] = fma(products.startsFromRows() ? b.convert(sums[i], sum) : sums[i], scale, carried[i]);
      }
      llvm::MutableArrayRef<V> moved = llvm::MutableArrayRef<V>(next).drop_front(numSums).drop_back();
      advance(moved.take_front(numPointers), lhsStep, rhsStep);
      advance(moved.drop_front(numPointers), scaleStep, scaleStep);
      next.back() = next.back() - b.index(1);
      return next;
    };
    Values done = b.loopWhile(first, takeGroup, isMore, again);
    done.resize(numSums);
    return done;
  }

  /// Visits each vector of results, by its number, its address and its mask.
  Values each(llvm::function_ref<void(unsigned, mlir::Value, V)> visit, V maskOfLast = V()) {
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned p = 0; p < panels; ++p) {
        mlir::Value line = r ? behind(base, apart * b.index(r)) : base;
        visit(r * panels + p, p ? behind(line, panelApart * b.index(p)) : line, p + 1 == panels ? maskOfLast : V());
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
  const ContractForm form;
  LineProducts products;
  LaneBuilder &b;
  const mlir::Value pointers, dims;
  const unsigned rows, panels, lines; // of the tile; the group of lines
  const Elem sum;                     // of results
  mlir::Value base;                   // of results
  V apart, panelApart, row, panel;    // bytes from row to row and panel to panel of results, and of operands
  V ahead;                            // bytes from a line to the one that is fetched with it
  size_t numRows = 0;                 // pointers to rows
};

} // namespace

void emitContraction(const KernelSpec &spec, LaneBuilder &b, mlir::Value pointers, mlir::Value dims, V chunk,
                     const ContractInstructions &instructions) {
  Contraction(spec, b, pointers, dims, instructions).emit(chunk);
}

} // namespace tess::compiler
