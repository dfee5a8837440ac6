//===- KernelSupport.cpp - specs in few words, kernels that run ----------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <catch2/catch.hpp>

namespace tess::test {

int SpecBuilder::add(KernelNode node) {
  spec.nodes.push_back(std::move(node));
  return int(spec.nodes.size()) - 1;
}

int SpecBuilder::input(DType dtype, InnerClass inner, bool varies) {
  KernelOperand operand;
  operand.dtype = dtype;
  operand.inner = inner;
  operand.variesOnReduced = varies;
  spec.operands.push_back(operand);
  KernelNode node;
  node.kind = NodeKind::Load;
  node.dtype = dtype;
  node.operand = int16_t(spec.operands.size() - 1);
  return add(node);
}

int SpecBuilder::apply(ScalarFn fn, DType dtype, std::initializer_list<int> args, bool rounds) {
  KernelNode node;
  node.kind = NodeKind::Apply;
  node.dtype = dtype;
  node.fn = fn;
  node.roundsHere = rounds;
  for (int arg : args)
    node.args.push_back(int16_t(arg));
  return add(node);
}

int SpecBuilder::constant(DType dtype, double value) {
  KernelNode node;
  node.kind = NodeKind::Const;
  node.dtype = dtype;
  node.constant = value;
  return add(node);
}

int SpecBuilder::attr(DType dtype, bool isInt) {
  KernelNode node;
  node.kind = NodeKind::Attr;
  node.dtype = dtype;
  node.attrIsInt = isInt;
  node.slot = int16_t(spec.numAttrs++);
  return add(node);
}

int SpecBuilder::dimIndex(int slot, DType dtype) {
  int node = apply(ScalarFn::DimIndex, dtype, {});
  spec.nodes[node].slot = int16_t(slot);
  return node;
}

int SpecBuilder::reduce(ReduceKind kind, DType dtype, int arg, bool rounds) {
  KernelNode node;
  node.kind = NodeKind::Reduce;
  node.dtype = dtype;
  node.reduceKind = kind;
  node.roundsHere = rounds;
  node.args.push_back(int16_t(arg));
  return add(node);
}

int SpecBuilder::scan(ScalarFn fn, DType dtype, llvm::ArrayRef<int16_t> args, bool exclusive, bool rounds) {
  KernelNode node;
  node.kind = NodeKind::Scan;
  node.dtype = dtype;
  node.fn = fn;
  node.exclusive = exclusive;
  node.roundsHere = rounds;
  node.args.assign(args.begin(), args.end());
  return add(node);
}

void SpecBuilder::output(int node, DType dtype, InnerClass inner, bool varies) {
  KernelOperand operand;
  operand.dtype = dtype;
  operand.isOutput = true;
  operand.inner = inner;
  operand.variesOnReduced = varies;
  spec.operands.push_back(operand);
  spec.stores.push_back({int16_t(node), int16_t(spec.operands.size() - 1)});
}

static std::string textOf(llvm::Error error) { return takeError(std::move(error)).second; }

CodeGenerator &generatorFor(llvm::StringRef target) {
  static llvm::StringMap<std::unique_ptr<CodeGenerator>> generators;
  std::unique_ptr<CodeGenerator> &found = generators[target];
  if (!found) {
    llvm::Expected<TargetSpec> spec = TargetSpec::parse(target);
    if (!spec)
      FAIL(textOf(spec.takeError()));
    auto made = CodeGenerator::create(*spec);
    if (!made)
      FAIL(textOf(made.takeError()));
    found = std::move(*made);
  }
  return *found;
}

std::vector<std::string> targetsHere() {
  llvm::Expected<TargetSpec> host = TargetSpec::parse("host");
  if (!host)
    FAIL(textOf(host.takeError()));
  std::vector<std::string> targets = {"x86-64-v3", "sim"};
  if (host->has("avx512f"))
    targets.push_back("host");
  return targets;
}

/// Every kernel of a test is one of parse, too.
static void checkText(const KernelSpec &spec) {
  llvm::Expected<KernelSpec> parsed = KernelSpec::parse(spec.toText());
  if (!parsed)
    FAIL(textOf(parsed.takeError()) << "\n" << spec.toText());
  REQUIRE(parsed->toText() == spec.toText());
}

std::string refusalOf(llvm::StringRef text) {
  llvm::Expected<KernelSpec> spec = KernelSpec::parse(text);
  REQUIRE(bool(spec));
  return takeError(verifyKernel(*spec)).second;
}

/// Tests meet the same spec at many shapes: it compiles once.
static const runtime::Image &imageOf(const KernelSpec &spec, llvm::StringRef target) {
  static llvm::StringMap<runtime::Image> images;
  auto [place, isNew] = images.try_emplace(target.str() + spec.toText());
  if (isNew) {
    checkText(spec);
    llvm::Expected<runtime::Image> made = generatorFor(target).compile({{"kernel", spec}});
    if (!made) {
      images.erase(place);
      FAIL(textOf(made.takeError()) << "\n" << spec.toText());
    }
    place->second = std::move(*made);
  }
  return place->second;
}

Kernel::Kernel(const KernelSpec &spec, llvm::StringRef target) : spec(spec), image(imageOf(spec, target)) {
  auto mapped = runtime::CodeImage::map(image, image.kind);
  if (!mapped)
    FAIL(textOf(mapped.takeError()));
  code = std::move(*mapped);
}

CallArguments callArguments(const std::vector<int64_t> &sizes, const std::vector<Bound> &operands,
                            const std::vector<uint64_t> &attrs) {
  runtime::KernelDims places(sizes.size(), operands.size());
  CallArguments call;
  call.dims.resize(places.count(attrs.size()));
  for (unsigned group = 0; group < sizes.size(); ++group)
    call.dims[places.size(group)] = sizes[group];
  for (unsigned i = 0; i < operands.size(); ++i) {
    REQUIRE(operands[i].strides.size() == sizes.size());
    call.pointers.push_back(operands[i].data);
    for (unsigned group = 0; group < sizes.size(); ++group)
      call.dims[places.stride(i, group)] = operands[i].strides[group];
  }
  for (unsigned slot = 0; slot < attrs.size(); ++slot)
    call.dims[places.attribute(slot)] = int64_t(attrs[slot]);
  return call;
}

TESS_CALLS_KERNELS void Kernel::runChunk(const CallArguments &call, int64_t chunk) const {
  code->entry(0)(call.pointers.data(), call.dims.data(), nullptr, chunk, 0, 0, 0);
}

void Kernel::runChunks(const CallArguments &call, int64_t count, unsigned pieces) const {
  int64_t chunks = runtime::reductionChunks(count);
  if (pieces == 1)
    return code->entry(0)(call.pointers.data(), call.dims.data(), nullptr, 0, 1, 0, chunks);
  std::vector<uint64_t> scratch(image.entries[0].scratchBytesPerChunk / sizeof(uint64_t) * chunks + 1);
  auto part = [&](int64_t lo, int64_t hi) {
    if (lo < hi || hi == 0)
      code->entry(0)(call.pointers.data(), call.dims.data(), scratch.data(), 0, 1, lo, hi);
  };
  for (unsigned piece = pieces; piece-- > 0;) // in any order
    if (chunks * (piece + 1) / pieces > 0)
      part(chunks * piece / pieces, chunks * (piece + 1) / pieces);
  part(0, 0);
}

/// Runs the threads, or teams, of a grid, whose steps all but the smallest domains need.
void Kernel::runGrid(const CallArguments &call, int64_t count) const {
  constexpr int64_t kBlocks = 2, kThreads = 32;
  auto fn = reinterpret_cast<runtime::GridKernelFn>(reinterpret_cast<uintptr_t>(code->entry(0)));
  const runtime::GridEntry &grid = image.entries[0].grid;
  REQUIRE(grid.numPointers == call.pointers.size());
  REQUIRE(grid.numDims == call.dims.size());
  for (int64_t block = kBlocks; block-- > 0;) // in any order
    for (int64_t thread = 0; thread < kThreads; thread += grid.team)
      fn(call.pointers.data(), call.dims.data(), count, block, kBlocks, thread, kThreads);
}

void Kernel::run(const std::vector<int64_t> &sizes, const std::vector<Bound> &operands,
                 const std::vector<uint64_t> &attrs, unsigned pieces) const {
  CallArguments call = callArguments(sizes, operands, attrs);
  if (image.kind == runtime::ImageKind::Grid) {
    int64_t count = 1;
    for (unsigned g = 0; g < spec.numParallel; ++g)
      count *= sizes[g];
    return runGrid(call, count);
  }
  if (image.entries[0].scratchBytesPerChunk)
    return runChunks(call, sizes[0], pieces);
  auto &[pointers, dims] = call;
  bool lanes = spec.vectorAxis == VectorAxis::Parallel;
  int64_t outer = 1, reduced = 1;
  for (unsigned g = 0; g + lanes < spec.numParallel; ++g)
    outer *= sizes[g];
  for (unsigned g = spec.numParallel; g < sizes.size(); ++g)
    reduced *= sizes[g];
  int64_t inner = lanes ? sizes[spec.numParallel - 1] : 0;
  std::vector<char> scratch(runtime::scratchBytes(code->scratchBytesPerElement(0), uint64_t(reduced)) +
                            runtime::kScratchAlignment);
  void *aligned =
      reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.data()), runtime::kScratchAlignment));
  for (unsigned piece = 0; piece < pieces; ++piece) {
    int64_t outerLo = outer * piece / pieces, outerHi = outer * (piece + 1) / pieces, innerLo = 0, innerHi = inner;
    if (outer < int64_t(pieces) && lanes) {
      outerLo = 0;
      outerHi = outer;
      innerLo = std::min<int64_t>(inner, int64_t(llvm::alignTo(uint64_t(inner * piece / pieces), runtime::kLanes)));
      innerHi =
          std::min<int64_t>(inner, int64_t(llvm::alignTo(uint64_t(inner * (piece + 1) / pieces), runtime::kLanes)));
    }
    code->entry(0)(pointers.data(), dims.data(), aligned, outerLo, outerHi, innerLo, innerHi);
  }
}

std::vector<int64_t> rowMajor(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

} // namespace tess::test
