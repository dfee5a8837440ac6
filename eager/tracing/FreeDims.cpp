//===- FreeDims.cpp - that a recording fits every size -------------------===//
#include "eager/tracing/FreeDims.h"

#include "compiler/Compile.h"
#include "eager/classes/HostOptions.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/RecordingText.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// A limit, because loops over a larger size would be recorded as well.
static constexpr int64_t kLargestSize = 1 << 16;

llvm::Expected<FreeDims> FreeDims::create(RecordingRef recorded, const GraphOptions &options) {
  FreeDims free;
  free.dims = options.dims;
  free.argumentDims = options.argumentDims;
  free.recordedSizes.assign(options.dims.size(), kUnknown);
  for (auto [argument, axes] : llvm::enumerate(options.argumentDims))
    for (auto [axis, dim] : llvm::enumerate(axes)) {
      if (dim < 0)
        continue;
      int64_t size = recorded->argumentMeta(argument).shape[axis], &known = free.recordedSizes[dim];
      if (known != kUnknown && known != size)
        return invalidArgument("dump: dimension " + options.dims[dim].name +
                               " must be of one size in the recorded call, got " + llvm::Twine(known) + " and " +
                               llvm::Twine(size));
      known = size;
    }
  free.recorded = std::move(recorded);
  return free;
}

/// `size`, moved into the bounds; above them, to the largest size that is not `other`, if there is one.
static int64_t within(int64_t size, int64_t low, int64_t high, int64_t other) {
  if (size <= high)
    return std::max(size, low);
  return high != other ? high : std::max(low, other - 1);
}

std::vector<FreeDims::Choice> FreeDims::choices() const {
  Choice near{{}, true}, far{{}, true}, low{{}, false}, high{{}, false};
  for (auto [number, dim] : llvm::enumerate(dims)) {
    int64_t size = recordedSizes[number], last = std::min(dim.max, kLargestSize);
    near.sizes.push_back(within(size + 1 + int64_t(number), dim.min, last, size));
    far.sizes.push_back(within(2 * size + 3 + 2 * int64_t(number), dim.min, last, size));
    low.sizes.push_back(dim.min);
    high.sizes.push_back(std::min(last, 4 * size + 64));
  }
  std::vector<Choice> chosen;
  for (Choice &choice : llvm::SmallVector<Choice, 4>{near, far, low, high})
    if (choice.sizes != recordedSizes &&
        llvm::none_of(chosen, [&](const Choice &each) { return each.sizes == choice.sizes; }))
      chosen.push_back(std::move(choice));
  return chosen;
}

std::vector<FreeDims::Sizes> FreeDims::neededSizes() const {
  std::vector<Sizes> needed = {recordedSizes};
  for (const Choice &choice : choices())
    if (choice.isNeeded)
      needed.push_back(choice.sizes);
  return needed;
}

llvm::Expected<runtime::ProgramRef> compiledHere(const ir::Graph &graph) {
  llvm::Expected<runtime::Executable> exe = compiler::compile(graph, hostOptions());
  if (!exe)
    return exe.takeError();
  return runtime::Program::create(std::move(*exe));
}

Metas FreeDims::inputsAt(const runtime::Executable &exe, llvm::ArrayRef<int64_t> sizes) const {
  Metas inputs = argumentsAt(sizes);
  for (const runtime::InputDecl &input : llvm::drop_begin(exe.inputs, exe.numArguments()))
    inputs.push_back(exe.constants[input.initial].meta);
  return inputs;
}

llvm::Expected<bool> FreeDims::serves(llvm::ArrayRef<int64_t> sizes) const {
  GraphOptions options;
  options.dims = dims;
  options.argumentDims = argumentDims;
  options.captureAsConstants = options.keepsState = true;
  llvm::Expected<ir::Graph> graph = buildGraph(*recorded, options);
  if (!graph)
    return graph.takeError();
  BlockingRegion region(/*computes=*/true);
  llvm::Expected<runtime::ProgramRef> program = compiledHere(*graph);
  if (!program)
    return program.takeError();
  llvm::Expected<runtime::BoundRef> bound = (*program)->bind(inputsAt((*program)->executable(), sizes));
  if (!bound)
    llvm::consumeError(bound.takeError());
  return bool(bound);
}

Metas FreeDims::argumentsAt(llvm::ArrayRef<int64_t> sizes) const {
  Metas metas;
  for (size_t argument = 0; argument < recorded->arguments().size(); ++argument) {
    metas.push_back(recorded->argumentMeta(argument));
    for (auto [axis, dim] : llvm::enumerate(argumentDims[argument]))
      if (dim >= 0)
        metas.back().shape[axis] = sizes[dim];
  }
  return metas;
}

std::string FreeDims::shown(llvm::ArrayRef<int64_t> sizes) const {
  std::string text;
  for (auto [dim, size] : llvm::zip(dims, sizes))
    text += (text.empty() ? "" : ", ") + dim.name + "=" + std::to_string(size);
  return text;
}

/// Two lines at one place of two recordings that are not the same there.
struct LinePair {
  RecordingLine first, second;
};

/// The line; of one with the body of a loop the operator in it at `place`.
static std::string operatorAt(llvm::StringRef line, size_t place) {
  size_t begin = line.find_last_of("{;", place), end = line.find(';', place);
  if (!line.contains("(body={") || begin == llvm::StringRef::npos || end == llvm::StringRef::npos)
    return line.str();
  return (line.slice(begin + 1, end).trim() + " in a loop").str();
}

/// What both lines say where they differ, with `between` between them.
static std::string shownLines(const LinePair &lines, const std::string &between) {
  const std::string &a = lines.first.text, &b = lines.second.text;
  size_t place = size_t(llvm::mismatch(a, b).first - a.begin());
  return operatorAt(a, place) + between + operatorAt(b, place);
}

/// The first place at which the recordings differ in more than shapes; none: they are one program, at the sizes of the
/// arguments of `at`, or, where that is null, at all.
static llvm::Expected<std::optional<LinePair>> differingLines(const Recording &first, const Recording &second,
                                                              const Recording *at) {
  RecordingWriter writer(/*shapes=*/false);
  auto old = writer.write(first, at), now = writer.write(second, at);
  if (!old || !now)
    return llvm::joinErrors(old.takeError(), now.takeError());
  size_t most = std::max(old->size(), now->size());
  const RecordingLine nothing{"nothing", nullptr};
  old->resize(most, nothing);
  now->resize(most, nothing);
  for (auto [was, becomes] : llvm::zip(*old, *now))
    if (was.text != becomes.text)
      return LinePair{was, becomes};
  return std::nullopt;
}

/// Says what to write for Python's max, where the function compared a size.
static std::string adviceFor(const Recording &recording) {
  llvm::StringRef place = recording.comparison();
  return place.empty() ? ""
                       : (" (a size is compared at " + place +
                          ": core.sym_max and core.sym_min stay sizes, max and min of Python do not)")
                             .str();
}

llvm::Error FreeDims::checkSame(const Recording &again, llvm::ArrayRef<int64_t> sizes) const {
  auto lines = differingLines(*recorded, again, &again);
  if (!lines)
    return lines.takeError();
  if (!*lines)
    return llvm::Error::success();
  const RecordingLine &was = (*lines)->first;
  return at(invalidArgument("dump: a free dimension must not be fixed in the program, got " +
                            shownLines(**lines, " for " + shown(recordedSizes) + " and ") + " for " + shown(sizes) +
                            adviceFor(*recorded)),
            was.location ? was.location->describe() : "");
}

/// Whether a later run reads the same variables with the same shapes.
static bool capturesSame(const Recording &first, const Recording &second) {
  return llvm::equal(first.captured(), second.captured(), [&](uint32_t one, uint32_t other) {
    const Recording::Value &own = first.values()[one], &its = second.values()[other];
    return own.tensor == its.tensor && own.meta == its.meta;
  });
}

llvm::Expected<SizeDifference> differenceInSizes(const Recording &first, const Recording &second) {
  auto lines = differingLines(first, second, nullptr);
  if (!lines)
    return lines.takeError();
  if (*lines) {
    const RecordingLine &was = (*lines)->first;
    std::string place = was.location ? was.location->describe() : "";
    return SizeDifference{{}, (place.empty() ? "" : place + ": ") + shownLines(**lines, " became ")};
  }
  if (!capturesSame(first, second) || first.arguments().size() != second.arguments().size())
    return SizeDifference{{}, "it reads other variables"};
  SizeDifference difference;
  for (size_t argument = 0; argument < first.arguments().size(); ++argument) {
    llvm::ArrayRef<int64_t> was = first.argumentMeta(argument).shape, becomes = second.argumentMeta(argument).shape;
    if (was.size() != becomes.size())
      return SizeDifference{{}, "a rank follows from a size"};
    for (auto [axis, sizes] : llvm::enumerate(llvm::zip_equal(was, becomes)))
      if (std::get<0>(sizes) != std::get<1>(sizes))
        difference.axes.push_back({unsigned(argument), unsigned(axis)});
  }
  return difference;
}

llvm::Error FreeDims::check(llvm::StringRef name, llvm::ArrayRef<unsigned> aliases, RecordAgain record) const {
  for (const Choice &choice : choices()) {
    std::vector<TensorRef> arguments;
    for (auto [alias, meta, number] : llvm::zip_equal(aliases, argumentsAt(choice.sizes), recorded->arguments())) {
      OnDevice here(*recorded->values()[number].device);
      arguments.push_back(alias < arguments.size() ? arguments[alias] : valueless(meta));
    }
    llvm::Expected<RecordingRef> again = record(arguments);
    if (!again) {
      std::string why = takeError(again.takeError()).second;
      llvm::Expected<bool> isServed = choice.isNeeded ? llvm::Expected<bool>(true) : serves(choice.sizes);
      if (!isServed)
        return refused(name, recordedSizes, takeError(isServed.takeError()).second);
      if (*isServed) // what refuses it is no operator of the program
        return refused(name, choice.sizes, why);
      continue;
    }
    if (llvm::Error error = checkSame(**again, choice.sizes))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error FreeDims::refused(llvm::StringRef name, llvm::ArrayRef<int64_t> sizes, llvm::StringRef why) const {
  return invalidArgument("dump: " + name + " must run at every size of its free dimensions, got " + shown(sizes) +
                         ": " + why);
}

} // namespace tess::eager
