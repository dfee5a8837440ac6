//===- kernel_dump.cpp - the code of named kernels, for FileCheck ---------===//
//
// usage: kernel_dump KERNEL TARGET mlir|llvm|asm; KERNEL is a function of the
// scalar language (add, erfc), sum, sum_columns or softmax, over float32.
//
//===----------------------------------------------------------------------===//
#include "compiler/lowering/KernelAnalysis.h"
#include "compiler/target/Codegen.h"
#include "ops/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace tess;
using namespace tess::compiler;

namespace {

constexpr DType F = DType::Float32;

/// Appends nodes over float32; the first operand is an input, the last the output.
struct Writer {
  KernelSpec spec;

  int16_t add(KernelNode node) {
    spec.nodes.push_back(std::move(node));
    return int16_t(spec.nodes.size() - 1);
  }
  int16_t input() {
    KernelOperand operand;
    operand.dtype = F;
    operand.variesOnReduced = spec.numReduced != 0;
    spec.operands.push_back(operand);
    KernelNode node;
    node.kind = NodeKind::Load;
    node.dtype = F;
    node.operand = int16_t(spec.operands.size() - 1);
    return add(node);
  }
  int16_t apply(ScalarFn fn, llvm::ArrayRef<int16_t> args) {
    KernelNode node;
    node.kind = NodeKind::Apply;
    node.dtype = F;
    node.fn = fn;
    node.args.append(args.begin(), args.end());
    return add(node);
  }
  int16_t reduce(ReduceKind kind, int16_t arg) {
    KernelNode node;
    node.kind = NodeKind::Reduce;
    node.dtype = F;
    node.reduceKind = kind;
    node.args.push_back(arg);
    return add(node);
  }
  void output(int16_t node, bool varies) {
    KernelOperand operand;
    operand.dtype = F;
    operand.isOutput = true;
    operand.variesOnReduced = varies;
    spec.operands.push_back(operand);
    spec.stores.push_back({node, int16_t(spec.operands.size() - 1)});
  }
};

KernelSpec rows(bool softmax, VectorAxis axis) {
  Writer w;
  w.spec.numReduced = 1;
  w.spec.vectorAxis = axis;
  int16_t x = w.input();
  if (!softmax) {
    w.output(w.reduce(ReduceKind::Sum, x), false);
    return w.spec;
  }
  int16_t e = w.apply(ScalarFn::Exp, {w.apply(ScalarFn::Sub, {x, w.reduce(ReduceKind::Max, x)})});
  w.output(w.apply(ScalarFn::Div, {e, w.reduce(ReduceKind::Sum, e)}), true);
  return w.spec;
}

llvm::Expected<KernelSpec> named(llvm::StringRef name) {
  if (name == "sum" || name == "softmax")
    return rows(name == "softmax", VectorAxis::Reduced);
  if (name == "sum_columns")
    return rows(false, VectorAxis::Parallel);
  for (ScalarFn fn : floatFunctions()) {
    if (name != infoOf(fn).name)
      continue;
    Writer w;
    llvm::SmallVector<int16_t, 2> args;
    for (unsigned i = 0; i < infoOf(fn).arity; ++i)
      args.push_back(w.input());
    w.output(w.apply(fn, args), false);
    return w.spec;
  }
  return invalidArgument("kernel_dump: kernel must be a function of float32, sum, sum_columns or softmax, got " + name);
}

llvm::Expected<std::string> dump(llvm::StringRef name, llvm::StringRef targetName, llvm::StringRef form) {
  llvm::Expected<KernelSpec> spec = named(name);
  if (!spec)
    return spec.takeError();
  llvm::Expected<TargetSpec> target = TargetSpec::parse(targetName);
  if (!target)
    return target.takeError();
  auto generator = CodeGenerator::create(*target);
  if (!generator)
    return generator.takeError();
  if (form == "mlir")
    return (*generator)->dumpMlir(*spec);
  return form == "llvm" ? (*generator)->dumpLlvm(*spec) : (*generator)->dumpAssembly(*spec);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    llvm::errs() << "usage: kernel_dump KERNEL TARGET mlir|llvm|asm\n";
    return 2;
  }
  llvm::Expected<std::string> text = dump(argv[1], argv[2], argv[3]);
  if (!text) {
    llvm::errs() << takeError(text.takeError()).second << '\n';
    return 1;
  }
  llvm::outs() << *text;
  return 0;
}
