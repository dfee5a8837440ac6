//===- KernelAbi.h - how generated kernels are called -----------*- C++ -*-===//
//
// The contract between the code that the compiler emits and those that call it:
// bind, eager's direct calls, GPUs, tests. Whatever changes here for code that
// there is raises kKernelAbi, which every image carries.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tess::runtime {

/// Kernels of version 1 are called as those of version 2, which may split a reduction into parts.
constexpr uint32_t kKernelAbi = 2;

/// Elements of a vector, and partial results of a reduction.
constexpr unsigned kLanes = 16;
/// Lanes that a kernel reads together of an operand that lies across them, and that a launch gives it then at a time:
/// four lines of a cache at least, which one line for each of its rows was slower than.
constexpr unsigned kTileLanes = 4 * kLanes;

/// Elements that are reduced on their own where everything is reduced: the results of such chunks are combined in their
/// order. A multiple of kLanes; 32 K take 4 us, beside which the end of a chunk (20 ns) is nothing.
constexpr int64_t kReductionChunk = 1 << 15;
constexpr int64_t reductionChunks(int64_t elements) { return (elements + kReductionChunk - 1) / kReductionChunk; }

/// Elements that partial results of a float sum take in before they are added up: 64 for each lane, whose sum is off by
/// 1e-6 at most in float32. Results of such pieces are added in float64, so that the error does not grow with the
/// length.
constexpr int64_t kSumPiece = 64 * kLanes;
static_assert(kReductionChunk % kSumPiece == 0);

/// Lines that a sum of products takes in on its own: 256 numbers along the contracted axis of a product, or 512 of
/// bfloat16, which lines have two of. Sums of such chunks are added in their order, so that errors do not grow with the
/// length: 1e-6 instead of 3e-5 over 400 000 numbers.
constexpr int64_t kContractLines = 256;

/// Bytes of each part of a chunk's result, in scratch.
constexpr unsigned kChunkPartBytes = 8;

/// How the lanes of a vector find their elements along the vector axis. Repeated: lane l of every vector reads element
/// `l & mask` of what is contiguous; the mask, one below a power of 2 that divides kLanes, stands in the stride's
/// place.
enum class InnerClass : uint8_t { Contiguous, Broadcast, Strided, Repeated };
constexpr unsigned kNumInnerClasses = 4;

/// A kernel over a domain of parallel groups, then reduced groups of axes.
///
/// `pointers`: the operands' first elements, inputs before outputs. `dims`: see KernelDims. Outer range: row-major
/// indices over the parallel groups, without the last of them where that is the vector axis; the inner range goes along
/// it then, and starts at a multiple of kLanes (ignored otherwise). `scratch`: of the calling thread alone, of
/// scratchBytes, aligned to kScratchAlignment; may be null where that is 0.
///
/// A kernel with scratchBytesPerChunk reduces everything to one row, and its inner range is one of chunks. It may be
/// called once with all chunks and no scratch; or with parts of them, on any threads, and scratch for all chunks that
/// the calls share, then once with no chunk.
///
/// A kernel that contracts computes one tile over one chunk, which has a line at least: its rows, and as many columns
/// as the size of their group says, of which the last panel alone may have fewer than kLanes. The strides of the right
/// operand and of the output along columns are those from panel to panel. The outer range begins with the number of the
/// chunk: sums of chunk 0 are stored, those of others are added to the output. The rest of the ranges is ignored.
///
/// Strides along lines of bfloat16 and of 8 bits count words of two or four elements in both operands. Behind the
/// lines of each panel of int8 by int8 lie int32 numbers, -128 times the sum of each column over the chunk, with which
/// sums begin where rows are read as unsigned. A kernel whose lines come in groups, each with scales, has a group of
/// such groups before that of lines.
using KernelFn = void (*)(void *const *pointers, const int64_t *dims, void *scratch, int64_t outerLo, int64_t outerHi,
                          int64_t innerLo, int64_t innerHi);

/// The parameters of a kernel on a GPU, in their order:
///
///   kernel(void *pointers[numOperands], int64_t dims[KernelDims::count()], int64_t count)
///
/// Both arrays are passed by value and hold what a KernelFn finds behind its pointers. `count`: elements of the
/// parallel domain, which the threads of a launch walk in row-major order, each in steps of the whole grid, so that any
/// grid is right. Where a kernel reduces rows, kLanes neighbouring threads walk them as one, thread l with the elements
/// whose number is l modulo kLanes, and end them by a tree of shuffles. There is no scratch: what a later pass over a
/// row needs again is computed again.
enum class GpuParameter : uint8_t { Pointers, Dims, Count };
constexpr unsigned kNumGpuParameters = 3;

/// The same kernel as machine code of the host, which the emulated accelerator calls for each thread of each block, or,
/// where kLanes threads reduce a row together, for each such team, whose threads are the lanes of one vector: `thread`
/// is then that of its first lane. `pointers` and `dims` are those of one launch, translated.
using GridKernelFn = void (*)(void *const *pointers, const int64_t *dims, int64_t count, int64_t block, int64_t blocks,
                              int64_t thread, int64_t threads);

/// For a function that calls a KernelFn: UBSan reads a type before the first byte of what is called, and generated code
/// has none there.
#define TESS_CALLS_KERNELS __attribute__((no_sanitize("function")))

/// The numbers of a bound, which is of an axis that a parallel and a reduced group walk together: their indices i and k
/// stand for its element i * Stride + k * Dilation - Padding, which there is if it is in [0, Extent).
enum class BoundNumber : uint8_t { Stride, Dilation, Padding, Extent };
constexpr unsigned kNumBoundNumbers = 4;

/// What a kernel that looks elements up tells of a wrong index, in int64 numbers behind the pointers of the operands. A
/// caller clears the first of them; the first report of a call stays. Stride and Extent of a bound are of the axis that
/// indices count along.
struct LookupReport {
  int64_t lookup = 0;                                            // 1 + its number; 0: no index was wrong
  int64_t indices[kLanes] = {};                                  // of the lanes, or the one of all
  int64_t isWrong[kLanes] = {};                                  // by lane: 0 or -1, or 1
  static constexpr unsigned kIndices = 1, kIsWrong = 1 + kLanes; // where they lie
};

/// Where a kernel finds a number in `dims`: the sizes of the groups, the strides of each operand along them in
/// elements, the bounds, the runtime attributes as 8-byte bit patterns.
class KernelDims {
public:
  constexpr KernelDims(unsigned numGroups, unsigned numOperands, unsigned numBounds = 0)
      : numGroups(numGroups), numOperands(numOperands), numBounds(numBounds) {}

  /// Places of the size of a group, of the stride of an operand along a group, of a number of a bound, and of a runtime
  /// attribute.
  constexpr unsigned size(unsigned group) const { return group; }
  constexpr unsigned stride(unsigned operand, unsigned group) const { return (operand + 1) * numGroups + group; }
  constexpr unsigned bound(unsigned index, BoundNumber number) const {
    return (numOperands + 1) * numGroups + index * kNumBoundNumbers + unsigned(number);
  }
  constexpr unsigned attribute(unsigned slot) const { return bound(numBounds, BoundNumber(0)) + slot; }
  /// Numbers in `dims` for a kernel of `numAttributes` runtime attributes.
  constexpr unsigned count(unsigned numAttributes) const { return attribute(numAttributes); }

private:
  unsigned numGroups, numOperands, numBounds;
};

constexpr uint64_t kScratchAlignment = 64;

/// Elements of a scratch slot for a reduced domain of `count` elements; the last vector may end beyond them.
constexpr uint64_t scratchElements(uint64_t count) { return count + kLanes; }

/// Bytes of scratch for one part of a call, whose slots take `perElement` bytes together for each element.
constexpr uint64_t scratchBytes(uint64_t perElement, uint64_t count) {
  uint64_t bytes = perElement * scratchElements(count);
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

} // namespace tess::runtime
