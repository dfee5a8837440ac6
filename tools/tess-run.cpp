//===- tess-run.cpp - runs a .tess file -----------------------------------===//
//
// A thin main over tessera/deploy.h: no Python and no compiler in the process.
// A program with state starts with the file's, and each of --repeat runs goes on.
//
//===----------------------------------------------------------------------===//
#include "tessera/deploy.h"
#include "tessera/npy.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace tessera;
using deploy::Code;
using deploy::NpyArray;
using deploy::Status;

namespace {

struct Arguments {
  std::string file, labels, profile;
  std::vector<std::string> inputs, outputs; // name=path
  unsigned repeat = 1, threads = 0;
  bool noCode = false, verify = false;
};

struct Timing {
  double median = 0, best = 0, total = 0; // seconds
};

/// A run with all that belongs to it.
class Run {
public:
  explicit Run(const Arguments &arguments) : arguments(arguments) {}
  Status go();

private:
  Status readInputs();
  Status bindInputs();
  Status time();
  Status writeOutputs() const;
  Status reportAccuracy() const;
  void report() const;
  int64_t numSamples() const { return arrays.empty() || arrays[0].shape.empty() ? 1 : arrays[0].shape[0]; }

  const Arguments &arguments;
  deploy::Model model;
  deploy::Session session;
  std::vector<NpyArray> arrays; // in the order of the model's inputs
  std::vector<std::vector<char>> results;
  Timing timing;
  uint64_t allocatorGrowth = 0, dataGrowth = 0, codeGrowth = 0;
};

} // namespace

static Status invalid(const std::string &message) { return {Code::InvalidArgument, "tess-run: " + message}; }

/// Bytes of a line of /proc/self/status ("VmRSS:"), 0 when it is not there.
static uint64_t processBytes(const char *key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key, 0) == 0)
      return std::strtoull(line.c_str() + std::strlen(key), nullptr, 10) * 1024;
  return 0;
}

/// Resident bytes of code: of files, and what libraries generate. oneDNN touches and makes some MB of it in its first
/// calls, whatever the batch.
static uint64_t codeBytes() {
  std::ifstream maps("/proc/self/smaps");
  uint64_t total = 0;
  bool isCode = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string key, mode, offset, device, inode;
    fields >> key >> mode >> offset >> device >> inode;
    if (key.back() != ':')
      isCode = mode.find('x') != std::string::npos || (inode != "0" && mode.find('w') == std::string::npos);
    else if (isCode && key == "Rss:")
      total += std::strtoull(mode.c_str(), nullptr, 10) * 1024;
  }
  return total;
}

/// The path of `name` in a list of name=path; "" when it is not there. One entry without a name serves a single tensor.
static std::string pathFor(const std::vector<std::string> &list, const std::string &name, size_t count) {
  for (const std::string &entry : list) {
    size_t equals = entry.find('=');
    if (equals != std::string::npos && entry.compare(0, equals, name) == 0 && equals == name.size())
      return entry.substr(equals + 1);
    if (equals == std::string::npos && count == 1)
      return entry;
  }
  return "";
}

template <typename Infos> static std::string namesOf(const Infos &infos) {
  std::string text;
  for (const auto &info : infos)
    text += (text.empty() ? "" : ", ") + info.name;
  return text;
}

template <typename Infos>
static Status checkNames(const char *what, const std::vector<std::string> &list, const Infos &infos) {
  for (const std::string &entry : list) {
    std::string name = entry.substr(0, entry.find('='));
    bool named = entry.find('=') != std::string::npos;
    if (named ? std::none_of(infos.begin(), infos.end(), [&](const auto &info) { return info.name == name; })
              : infos.size() != 1)
      return invalid(std::string(what) + " must be <name>=<file> with a name of " + namesOf(infos) + ", got " + entry);
  }
  return {};
}

Status Run::readInputs() {
  if (Status status = checkNames("--input", arguments.inputs, model.inputs()); !status)
    return status;
  for (const deploy::InputInfo &info : model.inputs()) {
    std::string path = pathFor(arguments.inputs, info.name, model.inputs().size());
    if (path.empty())
      return invalid("input " + info.name + " must be given as --input " + info.name + "=<file>.npy, got none; it is " +
                     info.text);
    NpyArray &array = arrays.emplace_back();
    if (Status status = deploy::readNpy(path, array); !status)
      return status;
    if (array.dtype != info.dtype)
      return invalid("input " + info.name + " must be " + info.text + ", got " + deploy::name(array.dtype) + " in " +
                     path);
  }
  return {};
}

Status Run::bindInputs() {
  std::vector<deploy::Shape> shapes;
  for (const NpyArray &array : arrays)
    shapes.push_back(array.shape);
  if (Status status = model.bind(shapes, session); !status)
    return status;
  for (size_t i = 0; i < model.outputs().size(); ++i)
    results.emplace_back(session.outputBytes(i));
  return {};
}

Status Run::time() {
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (const NpyArray &array : arrays)
    inputs.push_back(array.data.data());
  for (std::vector<char> &result : results)
    outputs.push_back(result.data());
  deploy::resetAllocatorPeak();
  uint64_t residentBefore = processBytes("VmRSS:"), codeBefore = codeBytes();
  std::vector<double> seconds;
  for (unsigned i = 0; i < arguments.repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (Status status = session.run(inputs.data(), inputs.size(), outputs.data(), outputs.size()); !status)
      return status;
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    timing.total += seconds.back();
  }
  allocatorGrowth = deploy::allocatorUse().peak; // from nothing: constants are part of the plan
  codeGrowth = codeBytes() - std::min(codeBytes(), codeBefore);
  uint64_t growth = processBytes("VmHWM:") - std::min(processBytes("VmHWM:"), residentBefore);
  dataGrowth = growth - std::min(growth, codeGrowth); // code stays: it is part of the peak
  std::sort(seconds.begin(), seconds.end());
  timing.best = seconds.front();
  timing.median = seconds[seconds.size() / 2];
  return {};
}

void Run::report() const {
  std::printf("%s: executable %s, %u threads, %llu launches\n", arguments.file.c_str(), model.target().c_str(),
              deploy::numThreads(), static_cast<unsigned long long>(session.launches()));
  std::printf("latency: median %.3f ms, best %.3f ms over %u runs\n", timing.median * 1e3, timing.best * 1e3,
              arguments.repeat);
  std::printf("throughput: %.1f samples/s (batch of %lld)\n", double(numSamples()) / timing.median,
              static_cast<long long>(numSamples()));
  const deploy::Memory &memory = session.memory();
  std::string state = memory.state ? ", state " + std::to_string(memory.state) : "";
  std::printf("memory: planned %llu bytes (arena %llu, outputs %llu, constants %llu%s), allocator grew by %llu, "
              "process by %llu "
              "of data and %llu of libraries' code\n",
              static_cast<unsigned long long>(memory.total()), static_cast<unsigned long long>(memory.arena),
              static_cast<unsigned long long>(memory.outputs), static_cast<unsigned long long>(memory.constants),
              state.c_str(), static_cast<unsigned long long>(allocatorGrowth),
              static_cast<unsigned long long>(dataGrowth), static_cast<unsigned long long>(codeGrowth));
}

Status Run::writeOutputs() const {
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    const deploy::OutputInfo &info = model.outputs()[i];
    std::string path = pathFor(arguments.outputs, info.name, model.outputs().size());
    if (path.empty())
      continue;
    if (Status status = deploy::writeNpy(path, info.dtype, session.outputShapes()[i], results[i].data()); !status)
      return status;
  }
  return {};
}

template <typename T> static int64_t labelAt(const std::vector<char> &data, int64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * int64_t(sizeof value), sizeof value);
  return int64_t(value);
}

static bool readLabel(const NpyArray &labels, int64_t index, int64_t &label) {
  switch (labels.dtype) {
  case deploy::DType::Int64:
    label = labelAt<int64_t>(labels.data, index);
    return true;
  case deploy::DType::Int32:
    label = labelAt<int32_t>(labels.data, index);
    return true;
  case deploy::DType::UInt8:
    label = labelAt<uint8_t>(labels.data, index);
    return true;
  default:
    return false;
  }
}

/// Share of rows of output 0 whose largest element is at the label.
Status Run::reportAccuracy() const {
  NpyArray labels;
  if (Status status = deploy::readNpy(arguments.labels, labels); !status)
    return status;
  const deploy::Shape &shape = session.outputShapes()[0];
  if (shape.size() != 2 || model.outputs()[0].dtype != deploy::DType::Float32 || labels.shape.size() != 1 ||
      labels.shape[0] != shape[0])
    return invalid("--labels must have one label for each row of a float32 output of rank 2, got " +
                   std::to_string(labels.count()));
  const float *scores = reinterpret_cast<const float *>(results[0].data());
  int64_t right = 0;
  for (int64_t row = 0; row < shape[0]; ++row) {
    int64_t label = 0;
    if (!readLabel(labels, row, label))
      return invalid("--labels must be int64, int32 or uint8, got " + std::string(deploy::name(labels.dtype)));
    const float *line = scores + row * shape[1];
    right += std::max_element(line, line + shape[1]) - line == label;
  }
  std::printf("accuracy: %.4f (%lld of %lld)\n", shape[0] ? double(right) / double(shape[0]) : 0.0,
              static_cast<long long>(right), static_cast<long long>(shape[0]));
  return {};
}

Status Run::go() {
  if (arguments.threads)
    if (Status status = deploy::setNumThreads(arguments.threads); !status)
      return status;
  deploy::LoadOptions options;
  options.verify = arguments.verify;
  options.allowCode = !arguments.noCode;
  if (Status status = deploy::Model::load(arguments.file, model, options); !status)
    return status;
  if (Status status = checkNames("--output", arguments.outputs, model.outputs()); !status)
    return status;
  if (Status status = readInputs(); !status)
    return status;
  if (Status status = bindInputs(); !status)
    return status;
  if (!arguments.profile.empty())
    deploy::startProfile();
  if (Status status = time(); !status)
    return status;
  if (!arguments.profile.empty())
    if (Status status = deploy::saveProfile(arguments.profile); !status)
      return status;
  if (Status status = model.checkFile(); !status) // the last page of a cut file reads as zeros without a signal
    return status;
  report();
  if (Status status = writeOutputs(); !status)
    return status;
  return arguments.labels.empty() ? Status{} : reportAccuracy();
}

int main(int argc, char **argv) {
  Arguments arguments;
  CLI::App app{"Runs a .tess file: code and parameters come from it, nothing is compiled."};
  app.add_option("file", arguments.file, "the .tess file")->required();
  app.add_option("--input", arguments.inputs, "<name>=<file>.npy; the name may be left out when there is one input");
  app.add_option("--output", arguments.outputs, "<name>=<file>.npy; outputs that are not named are not written");
  app.add_option("--repeat", arguments.repeat, "runs to time; each goes on with the state of the one before")
      ->check(CLI::Range(1u, 1000000u));
  app.add_option("--labels", arguments.labels, "<file>.npy of class numbers: prints the accuracy of the first output");
  app.add_option("--threads", arguments.threads, "threads (default: TESS_NUM_THREADS, OMP_NUM_THREADS, or all)");
  app.add_flag("--no-code-from-file", arguments.noCode,
               "do not run code from the file (tess-run has no other: an error)");
  app.add_flag("--verify", arguments.verify, "verify every tensor's checksum before anything runs");
  app.add_option("--profile", arguments.profile, "write a Chrome trace of every step");
  CLI11_PARSE(app, argc, argv);
  deploy::guardMappedFiles();
  Status status = Run(arguments).go();
  if (status)
    return 0;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  return 1;
}
