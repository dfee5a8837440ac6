//===- Jit.h - functions compiled whole -------------------------*- C++ -*-===//
//
//     auto step = jit::trace([&](const Tensor &x, const Tensor &y) {
//       auto recording = manager.record();
//       Tensor loss = functional::cross_entropy(net(x), y);
//       manager.backward(loss);
//       optimizer.step().clearGrad();
//       return loss;
//     });
//     step(x, y); // records
//     step(x, y); // compiles, and runs compiled from now on
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

namespace tess::eager {
class TracedProgram;
class Recording;
struct GraphOptions;
} // namespace tess::eager

namespace tessera::jit {

/// How far a program may be from the results of its operators one by one: not a bit, or by roundings, where products
/// and sums with constants, such as a batch normalisation behind a convolution in a file, are taken in another order.
enum class Numerics : uint8_t { Strict, Fast };

/// A dimension that is free at run time; equal names are one dimension.
struct Dim {
  std::string name;
  int64_t min = 1;
  int64_t max = INT64_MAX;
};

/// What a dumped file holds.
struct DumpOptions {
  /// Names of arguments and results; "arg0", "output0" where none is given.
  std::vector<std::string> inputs = {}, outputs = {};
  /// Free dimensions by input and axis: {{"image", {{0, {"batch", 1, 512}}}}}.
  std::map<std::string, std::map<int64_t, Dim>> dims = {};
  /// Machines to compile for: "host", "x86-64-v3", "x86-64-v4"; none: the graph only.
  std::vector<std::string> targets = {"host"};
  /// Text by key that is kept in the file.
  std::map<std::string, std::string> metadata = {};
};

/// The calls of one traced function. A signature is the dtypes and shapes of the arguments, which of them are the same
/// variable, the modes of modules, and which gradients are present; everything else is as it was in the recorded call.
/// Signatures that differ in sizes of at least 2 share a program whose dimensions are free, unless the function does
/// something else at other sizes: each is recorded by itself, by inference, to see that.
/// What it keeps is bounded (eager/tracing/KeptCalls.h): calls used least recently are forgotten, and recorded anew.
class Calls {
public:
  /// The traced function over lists of tensors.
  using Function = std::function<std::vector<Tensor>(llvm::ArrayRef<Tensor>)>;

  Calls(bool fuse, Numerics numerics);
  /// Runs a call, eagerly or compiled. `function` must live as long as this.
  std::vector<Tensor> call(std::vector<Tensor> arguments, const Function &function);
  void dump(const std::string &path, const DumpOptions &options) const;
  /// Null before the latest signature is compiled.
  std::shared_ptr<tess::eager::TracedProgram> program() const;

private:
  struct Variant;
  struct Recordings;
  /// The recorded call holds no size that `options` free.
  static std::shared_ptr<Variant> apart(Variant &variant);
  static void checkFree(const Variant &variant, const tess::eager::GraphOptions &options);
  std::shared_ptr<Variant> resized(Variant &call, llvm::ArrayRef<Tensor> arguments) const;
  void compile(Variant &variant, llvm::ArrayRef<tess::eager::TensorRef> arguments) const;
  bool compileForData(Variant &variant, llvm::ArrayRef<tess::eager::TensorRef> arguments) const;
  static std::string whyFixed(const Variant &variant);
  std::vector<Tensor> run(Variant &variant, llvm::ArrayRef<Tensor> arguments);
  std::vector<Tensor> runForData(Variant &variant, llvm::ArrayRef<Tensor> arguments, llvm::Error refused);

  bool fuse;
  Numerics numerics;
  std::shared_ptr<Recordings> recordings; // shared with copies
};

namespace detail {
inline std::vector<Tensor> toList(const Tensor &result) { return {result}; }
inline std::vector<Tensor> toList(const std::vector<Tensor> &results) { return results; }
template <typename... T> std::vector<Tensor> toList(const std::tuple<T...> &results) {
  return std::apply([](const T &...each) { return std::vector<Tensor>{each...}; }, results);
}

template <typename R> struct FromList;
template <> struct FromList<void> {
  static void get(const std::vector<Tensor> &) {}
};
template <> struct FromList<Tensor> {
  static Tensor get(const std::vector<Tensor> &list) { return list.front(); }
};
template <> struct FromList<std::vector<Tensor>> {
  static std::vector<Tensor> get(std::vector<Tensor> list) { return list; }
};
template <typename... T> struct FromList<std::tuple<T...>> {
  static std::tuple<T...> get(const std::vector<Tensor> &list) { return get(list, std::index_sequence_for<T...>()); }
  template <size_t... I> static std::tuple<T...> get(const std::vector<Tensor> &list, std::index_sequence<I...>) {
    return {list[I]...};
  }
};
} // namespace detail

/// A function of tensors that returns a tensor, a vector or tuple of tensors, or nothing. The first call of a signature
/// runs eagerly and is recorded, later ones run one compiled program: tensors from outside (parameters, optimizer and
/// random state) are read and updated by it. The first call with other tensors is recorded, too: it shows which uses of
/// an argument were uses of a tensor from outside. The first call with other sizes is recorded without running
/// anything, and runs the one program whose sizes are free. Sizes that data decides are found by the program; a
/// function that asks for one (shape(), size()) or holds for one only runs eagerly. Reading a tensor's value within the
/// function is an error. TESS_DISABLE_TRACE=1 runs every call eagerly; so does a GradManager that records around the
/// call. Copies share the function.
template <typename F> class Trace {
public:
  Trace(F function, bool fuse, Numerics numerics)
      : function(std::make_shared<F>(std::move(function))), calls(fuse, numerics) {}

  template <typename... T> auto operator()(const T &...arguments) {
    using Result = decltype(invoke(*function, std::array<Tensor, sizeof...(T)>(), std::index_sequence_for<T...>()));
    auto whole = [function = function.get()](llvm::ArrayRef<Tensor> given) -> std::vector<Tensor> {
      if constexpr (std::is_void_v<Result>) {
        invoke(*function, given, std::index_sequence_for<T...>());
        return {};
      } else {
        return detail::toList(invoke(*function, given, std::index_sequence_for<T...>()));
      }
    };
    return detail::FromList<Result>::get(calls.call({Tensor(arguments)...}, whole));
  }

  /// Writes the latest signature's program to a file. Tensors from outside are constants with their values now; those
  /// that the function updates are state of the program, which starts with their values now. InvalidArgument when the
  /// program depends on the size of a free dimension: the function is recorded again at other sizes, by inference.
  void dump(const std::string &path, const DumpOptions &options = {}) const { calls.dump(path, options); }
  /// What the latest signature runs; null before it is compiled.
  std::shared_ptr<tess::eager::TracedProgram> program() const { return calls.program(); }

private:
  template <typename List, size_t... I>
  static decltype(auto) invoke(F &function, const List &given, std::index_sequence<I...>) {
    return function(given[I]...);
  }

  std::shared_ptr<F> function;
  Calls calls;
};

/// Traces `function`. `fuse`: operators share kernels, which changes no bit.
template <typename F> Trace<F> trace(F function, bool fuse = true, Numerics numerics = Numerics::Strict) {
  return Trace<F>(std::move(function), fuse, numerics);
}

/// A program from a file, with the state that its function updates (Trace::dump): each run goes on where the last one
/// ended. Thread-safe: runs take turns. Copies share the state; each load() has its own.
class Program {
public:
  explicit Program(std::shared_ptr<tess::eager::TracedProgram> program) : program(std::move(program)) {}
  /// Takes inputs and returns outputs in the orders of inputs() and outputs().
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs) const;
  /// The same by name. NotFound, with the names of the program, when others are given.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;
  /// Names of the inputs and outputs of a call, and the free dimensions.
  std::vector<std::string> inputs() const;
  std::vector<std::string> outputs() const;
  std::vector<Dim> dims() const;
  /// Copies of the state by name.
  std::map<std::string, Tensor> state() const;
  /// Replaces state by name. InvalidArgument unless names, dtypes and shapes are those of state().
  void setState(const std::map<std::string, Tensor> &values) const;
  /// Bytes that the latest run needed, by the memory plan.
  uint64_t plannedBytes() const;
  /// The graph, for people.
  std::string graphText() const;

private:
  std::shared_ptr<tess::eager::TracedProgram> program;
};

/// The program in the file, compiled from its graph. With `allowCode` the machine code in the file runs where it fits
/// this machine: only for files from a source whose programs you would run.
Program load(const std::string &path, bool allowCode = false);

} // namespace tessera::jit
