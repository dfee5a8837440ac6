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
#include <functional>
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
  /// Whether there is no error; what conversion to bool gives.
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
  UInt16 = 10,
  UInt32 = 11,
  UInt64 = 12,
  Float8E4M3 = 13,
  Float8E5M2 = 14,
  Complex64 = 15,
  Complex128 = 16,
  QInt8 = 17, // quantized, see Quantization
  QInt8Narrow = 18,
  QUInt8 = 19,
  QInt32 = 20,
  QInt4 = 21, // a byte for each element, as of those below
  QUInt4 = 22,
  QInt1 = 23,
  IntB1 = 24, // odd integers, as int8
  IntB2 = 25,
  IntB4 = 26,
};
/// Bytes of one element.
size_t byteWidth(DType dtype);
/// "float32".
const char *name(DType dtype);
/// What the stored integers q of a quantized dtype stand for: (q - zero point) * scale.
struct Quantization {
  /// One of each, or one for each index along `axis`; empty where the dtype is not quantized.
  std::vector<float> scales;
  std::vector<int32_t> zeroPoints;
  int axis = -1; // -1: one for the whole tensor
};

/// Sizes per axis, outermost first.
using Shape = std::vector<int64_t>;

/// One dimension of an input: a number, or a range that `symbol` names. Equal names are equal sizes.
struct Dim {
  int64_t size = -1; // -1: any size in min..max
  std::string symbol;
  int64_t min = 0, max = INT64_MAX;
};
/// An input that each run must give.
struct InputInfo {
  std::string name;
  DType dtype;
  Quantization quantization;
  std::vector<Dim> dims;
  /// "f32[batch, 1, 8, 8] with batch in 1..512".
  std::string text;
};
/// An output of a run; its shape is known to a Session.
struct OutputInfo {
  std::string name;
  DType dtype;
  Quantization quantization;
};

/// A case that the file keeps to test the model: each array as the bytes of a NumPy file (npy.h).
struct TestCase {
  std::vector<std::string> inputs;   // in the order of Model::inputs()
  std::vector<std::string> expected; // in that of Model::outputs(); none: the case is run only
};
/// All cases, and how far a result may be off: |a - b| / max(min(|a|, |b|), 1), MegEngine's measure.
struct TestCases {
  std::vector<TestCase> cases;
  double maxError = 0;
  bool verbose = true; // whether each case is told
};

/// How a file is read.
struct LoadOptions {
  /// Verify the checksum of every tensor now; else those above 256 MiB in all are verified on first use.
  bool verify = false;
  /// Machine code from the file may run: it can do whatever its writer wanted. False refuses it, and loading then
  /// fails, since nothing here can compile.
  bool allowCode = true;
  /// The device that runs the model, by name ("sim0"); empty: the host. Data of runs is the host's in any case.
  std::string device;
};

/// Bytes that a session uses, known before it runs.
struct Memory {
  uint64_t arena = 0, outputs = 0, constants = 0;
  /// What the model keeps between runs.
  uint64_t state = 0;
  uint64_t total() const { return arena + outputs + constants + state; }
};

/// Gives memory of at least `bytes` for output number `output`, whose size only the run tells. The caller owns it; null
/// ends the run.
using OutputMemory = std::function<void *(size_t output, size_t bytes)>;

/// A model bound to input shapes. For one thread at a time, a second run is an InvalidArgument; sessions of one model
/// run side by side, or one after the other where the model has state.
class Session {
public:
  Session();
  ~Session();
  Session(Session &&) noexcept;
  Session &operator=(Session &&) noexcept;

  /// Shapes in the order of Model::outputs(). A dimension that depends on data has its largest size before a run, -1
  /// where there is none, and the real one after it.
  const std::vector<Shape> &outputShapes() const;
  /// Bytes that the memory of output number `index` must have; 0 where it has no largest size or there is none.
  size_t outputBytes(size_t index) const;
  const Memory &memory() const;
  /// Kernel launches, library calls and copies of a run.
  uint64_t launches() const;

  /// Runs and waits. Data is contiguous and row-major, in the order of the model's inputs and outputs. The caller owns
  /// all memory; null is an InvalidArgument where there are bytes. `memory` is asked for that of an output without a
  /// largest size, and of one that became larger than outputBytes() says, because fewer elements picked by data made it
  /// so (x[4:-9:-1]); InvalidArgument where it is null.
  Status run(const void *const *inputs, size_t numInputs, void *const *outputs, size_t numOutputs,
             const OutputMemory &memory = nullptr);
  Status run(std::initializer_list<const void *> inputs, std::initializer_list<void *> outputs,
             const OutputMemory &memory = nullptr) {
    return run(inputs.begin(), inputs.size(), outputs.begin(), outputs.size(), memory);
  }

private:
  friend class Model;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Loads a library of operators (ops/custom/custom_op.h), or the file that tess-tblgen wrote of records, whose
/// operators files may name from then on; it stays loaded. NotFound where it cannot be opened, Unimplemented where it
/// was built for another version, InvalidArgument for what it says.
Status loadLibrary(const std::string &path);

/// A loaded file. Thread-safe once loaded. Tensors that the dumped function updates (of a random generator, an
/// optimizer, a running mean) are state of the model: it starts with the values in the file, and each run of any of its
/// sessions goes on from the one before. Two loads of a file have separate states.
class Model {
public:
  Model();
  ~Model();
  Model(Model &&) noexcept;
  Model &operator=(Model &&) noexcept;

  /// Opens and verifies the file, and maps the code that fits this processor best. On failure `model` is as before.
  static Status load(const std::string &path, Model &model, const LoadOptions &options = {});

  /// Inputs and outputs in the order of a run; state is not among them.
  const std::vector<InputInfo> &inputs() const;
  const std::vector<OutputInfo> &outputs() const;
  /// The name of the executable that was picked ("x86-64-v3").
  const std::string &target() const;
  /// The text that the file keeps under `key`; nullptr when there is none.
  const std::string *metadata(const std::string &key) const;
  /// The tests in the file, for which loading keeps no memory; DataLoss where one lacks an input or an output.
  Status testCases(TestCases &tests) const;

  /// Does everything that depends on shapes only. On failure `session` is as before.
  Status bind(const std::vector<Shape> &inputShapes, Session &session) const;
  /// DataLoss when the file lost bytes since it was loaded, or was written and no longer has its checksums, which
  /// load() and bind() check too: parameters are read where they lie in the file. Another file may take its name.
  Status checkFile() const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

/// Sets the threads of sessions that are bound from now on, 1..1024. Default: TESS_NUM_THREADS, else OMP_NUM_THREADS,
/// else what affinity and the cgroup leave.
Status setNumThreads(unsigned count);
unsigned numThreads();

/// Sets whether convolutions of 3 x 3 of sessions that are bound from now on may go by Winograd's products, which take
/// a third of the time and whose error is six times that of direct sums. Default: true, unless TESS_WINOGRAD is 0.
void setWinograd(bool allowed);
bool winograd();

/// Keeps SIGBUS from ending the process when a loaded file is cut while it is mapped: from now on a lost page reads as
/// zeros, and every later run is a DataLoss. Installs a handler of that signal for the whole process; faults elsewhere
/// go to the handler that was there.
void guardMappedFiles();

/// Bytes of the runtime's allocator: in use now, the most in use so far, and kept for later use.
struct AllocatorUse {
  uint64_t inUse = 0, peak = 0, cached = 0;
};
/// Of this process.
AllocatorUse allocatorUse();
/// Sets the peak to what is in use now.
void resetAllocatorPeak();

/// Records every step from now on, under the model's own names and source lines.
void startProfile();
/// Ends the recording and writes a trace for chrome://tracing or Perfetto.
Status saveProfile(const std::string &path);

} // namespace tessera::deploy
