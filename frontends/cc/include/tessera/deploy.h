//===- deploy.h - run a .tess file from C++ ---------------------*- C++ -*-===//
//
// Load, bind, run: the runtime and nothing else. No Python, no compiler, no
// LLVM type in this header, no exception out of its functions.
//
//   tessera::deploy::Model model;
//   tessera::deploy::Session session;
//   auto status = tessera::deploy::Model::load("digits.tess", model);
//   if (status) status = model.bind({{64, 1, 8, 8}}, session);
//   if (status) status = session.run({image}, {logits});
//   if (!status) std::fputs(status.message.c_str(), stderr);
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace tessera::deploy {

/// What went wrong. Values are stable.
enum class Code : uint8_t {
  Ok = 0,
  InvalidArgument = 1,
  TypeMismatch = 2,
  OutOfRange = 3,
  NotFound = 4,
  Unimplemented = 5,
  ResourceExhausted = 6,
  DataLoss = 7, // a damaged or foreign file
  IoError = 8,
  Internal = 9,
};

/// Success, or a code and one line that names what must hold and what came.
struct [[nodiscard]] Status {
  Code code = Code::Ok;
  std::string message;
  bool ok() const { return code == Code::Ok; }
  explicit operator bool() const { return ok(); }
};

/// Values are those of the file format.
enum class DType : uint8_t {
  Float16 = 0,
  BFloat16 = 1,
  Float32 = 2,
  Float64 = 3,
  Int8 = 4,
  UInt8 = 5,
  Int16 = 6,
  Int32 = 7,
  Int64 = 8,
  Bool = 9,
};
/// Bytes of one element.
size_t byteWidth(DType dtype);
/// "float32".
const char *name(DType dtype);

using Shape = std::vector<int64_t>;

/// One dimension of an input: a number, or a range that `symbol` names. Equal names are equal sizes.
struct Dim {
  int64_t size = -1; // -1: any size in min..max
  std::string symbol;
  int64_t min = 0, max = INT64_MAX;
};
struct InputInfo {
  std::string name;
  DType dtype;
  std::vector<Dim> dims;
  /// "f32[batch, 1, 8, 8] with batch in 1..512".
  std::string text;
};
struct OutputInfo {
  std::string name;
  DType dtype;
};

struct LoadOptions {
  /// Verify the checksum of every tensor now; else those above 256 MiB in all are verified on first use.
  bool verify = false;
  /// A file with code is a program: it can do what its writer wanted. False refuses to map its code, and since nothing
  /// here can compile, loading then fails.
  bool allowCode = true;
};

/// Bytes that a session uses, known before it runs.
struct Memory {
  uint64_t arena = 0, outputs = 0, constants = 0;
  /// What the model keeps between runs.
  uint64_t state = 0;
  uint64_t total() const { return arena + outputs + constants + state; }
};

/// A model for given input shapes. One thread at a time; sessions of one model run side by side, or, where it has
/// state, one after the other.
class Session {
public:
  Session();
  ~Session();
  Session(Session &&) noexcept;
  Session &operator=(Session &&) noexcept;

  /// In the order of Model::outputs(). Where a dimension depends on data: the largest before a run, the real one after
  /// it.
  const std::vector<Shape> &outputShapes() const;
  /// Bytes that output number `index` must have room for.
  size_t outputBytes(size_t index) const;
  const Memory &memory() const;
  /// Kernel launches, library calls and copies of a run.
  uint64_t launches() const;

  /// Runs and waits. Contiguous row-major data in the order of the model's inputs and outputs. The caller owns all
  /// memory.
  Status run(const void *const *inputs, size_t numInputs, void *const *outputs, size_t numOutputs);
  Status run(std::initializer_list<const void *> inputs, std::initializer_list<void *> outputs) {
    return run(inputs.begin(), inputs.size(), outputs.begin(), outputs.size());
  }

private:
  friend class Model;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A loaded file. Thread-safe once loaded. What the dumped function updates (random numbers, an optimizer's or a
/// running mean's tensors) is state of the model: it starts with the values in the file, and each run of any of its
/// sessions goes on from the one before. Two loads of a file have a state each.
class Model {
public:
  Model();
  ~Model();
  Model(Model &&) noexcept;
  Model &operator=(Model &&) noexcept;

  /// Opens and verifies the file, and maps the code that fits this processor best. On failure `model` is as before.
  static Status load(const std::string &path, Model &model, const LoadOptions &options = {});

  const std::vector<InputInfo> &inputs() const;
  const std::vector<OutputInfo> &outputs() const;
  /// The executable that was picked ("x86-64-v3").
  const std::string &target() const;
  /// Text that travels with the file, by key; nullptr when there is none.
  const std::string *metadata(const std::string &key) const;

  /// Does everything that depends on shapes only. On failure `session` is as before.
  Status bind(const std::vector<Shape> &inputShapes, Session &session) const;
  /// DataLoss when the file lost bytes since it was loaded, which load and bind ask too: parameters are read where they
  /// lie in the file. Replacing the file by another of its name is no loss.
  Status checkFile() const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

/// Threads of sessions bound from now on: 1..1024. Default: TESS_NUM_THREADS, else OMP_NUM_THREADS, else what affinity
/// and the cgroup leave.
Status setNumThreads(unsigned count);
unsigned numThreads();

/// From now on a page of a loaded file that is cut off while it is mapped reads as zeros, and makes every run that
/// follows a DataLoss, where SIGBUS would end the process. Installs a handler of that signal, for the whole process;
/// the one that was there gets what is no such page.
void guardMappedFiles();

/// Bytes that the runtime's allocator hands out now, at most so far, and keeps for later.
struct AllocatorUse {
  uint64_t inUse = 0, peak = 0, cached = 0;
};
AllocatorUse allocatorUse();
/// The peak starts again from what is in use.
void resetAllocatorPeak();

/// Records every step from now on, with the model's own names and source lines.
void startProfile();
/// Ends it and writes a trace for chrome://tracing or Perfetto.
Status saveProfile(const std::string &path);

} // namespace tessera::deploy
