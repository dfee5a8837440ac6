//===- TestProgram.h - executables whose kernels are C++ --------*- C++ -*-===//
//
// Programs for tests of the runtime, which has no compiler: steps call plain
// functions of the kernels' signature.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/Bind.h"
#include "tests/runtime/Expect.h"

namespace tess::test {

/// Builds an executable step by step. Value ids are returned in order of creation.
class TestProgram {
public:
  /// Dimension: a number, or the name of a symbol.
  struct Dim {
    Dim(int64_t size) : size(size) {}
    Dim(int size) : size(size) {}
    Dim(const char *symbol) : symbol(symbol) {}
    int64_t size = -1;
    std::string symbol;
  };

  runtime::Executable exe;

  void symbol(const std::string &name, int64_t min, int64_t max) { exe.symbols.push_back({name, min, max}); }

  int input(const std::string &name, DType dtype, std::initializer_list<Dim> dims) {
    int value = add(runtime::ValueKind::Input, dtype, name);
    runtime::InputDecl decl{name, value, dtype, {}};
    for (const Dim &dim : dims) {
      int32_t symbol = -1;
      for (size_t i = 0; i < exe.symbols.size(); ++i)
        if (exe.symbols[i].name == dim.symbol)
          symbol = int32_t(i);
      decl.dims.push_back({dim.size, symbol});
    }
    exe.inputs.push_back(std::move(decl));
    return value;
  }

  int constant(const TensorMeta &meta, const void *data) {
    int value = add(runtime::ValueKind::Constant, meta.dtype, "");
    exe.values[size_t(value)].constant = int32_t(exe.constants.size());
    std::string bytes(static_cast<const char *>(data), size_t(meta.numElements() * byteWidth(meta.dtype)));
    exe.constants.push_back({meta, std::move(bytes), ""});
    return value;
  }

  /// An operator that defines the shape of its one result.
  int node(OpDef op, runtime::ValueIds operands, runtime::ValueKind kind = runtime::ValueKind::Temp,
           DType dtype = DType::Float32) {
    int value = add(kind, dtype, "");
    if (kind == runtime::ValueKind::View)
      exe.values[size_t(value)].base = operands[0];
    exe.nodes.push_back({std::move(op), std::move(operands), {}, {value}});
    return value;
  }

  /// A step that calls `fn` for the last node: its operands and result, one parallel group of all axes.
  runtime::Step &kernel(runtime::KernelFn fn, unsigned rank) {
    const runtime::ProgramNode &last = exe.nodes.back();
    runtime::Step step;
    step.operands = last.operands;
    step.results = last.results;
    step.domain = {last.results[0]};
    step.parallel = {{0, uint8_t(rank)}};
    step.image = int32_t(exe.images.size());
    step.entry = 0;
    runtime::Image image;
    image.bytes = "not code";
    image.entries = {{"test_kernel", 0, 0}};
    exe.images.push_back(std::move(image));
    functions.push_back(fn);
    exe.steps.push_back(std::move(step));
    return exe.steps.back();
  }

  /// A library step for the last node.
  runtime::Step &library() {
    const runtime::ProgramNode &last = exe.nodes.back();
    runtime::Step step;
    step.kind = runtime::StepKind::Library;
    step.operands = last.operands;
    step.results = last.results;
    step.op = last.op;
    step.segments = last.segments;
    exe.steps.push_back(std::move(step));
    return exe.steps.back();
  }

  void output(const std::string &name, int value, int donates = -1) { exe.outputs.push_back({name, value, donates}); }

  runtime::ProgramOptions options() const {
    runtime::ProgramOptions options;
    options.name = "test";
    options.kernel = [functions = functions](unsigned image, unsigned) { return functions[image]; };
    return options;
  }
  llvm::Expected<runtime::ProgramRef> tryCreate(runtime::Device *device = nullptr) {
    runtime::ProgramOptions options = this->options();
    options.device = device;
    return runtime::Program::create(exe, std::move(options));
  }
  runtime::ProgramRef create(runtime::Device *device = nullptr) { return get(tryCreate(device)); }

  std::vector<runtime::KernelFn> functions;

private:
  int add(runtime::ValueKind kind, DType dtype, const std::string &name) {
    exe.values.push_back({kind, dtype, -1, -1, name, ""});
    return int(exe.values.size()) - 1;
  }
};

// Kernels of one parallel group: dims are the size, then a stride per operand, then scalars.

/// out = a + b
inline void addKernel(void *const *p, const int64_t *d, void *, int64_t, int64_t, int64_t lo, int64_t hi) {
  auto *a = static_cast<const float *>(p[0]), *b = static_cast<const float *>(p[1]);
  auto *out = static_cast<float *>(p[2]);
  for (int64_t i = lo; i < hi; ++i)
    out[i * d[3]] = a[i * d[1]] + b[i * d[2]];
}
/// out = -a
inline void negKernel(void *const *p, const int64_t *d, void *, int64_t, int64_t, int64_t lo, int64_t hi) {
  auto *a = static_cast<const float *>(p[0]);
  auto *out = static_cast<float *>(p[1]);
  for (int64_t i = lo; i < hi; ++i)
    out[i * d[2]] = -a[i * d[1]];
}
/// out = a * scalar 0
inline void scaleKernel(void *const *p, const int64_t *d, void *, int64_t, int64_t, int64_t lo, int64_t hi) {
  double factor = 0;
  __builtin_memcpy(&factor, &d[3], 8);
  auto *a = static_cast<const float *>(p[0]);
  auto *out = static_cast<float *>(p[1]);
  for (int64_t i = lo; i < hi; ++i)
    out[i * d[2]] = float(a[i * d[1]] * factor);
}

} // namespace tess::test
