//===- LibraryCalls.cpp - calls of the kernel table -----------------------===//
//
// A call is prepared first for row-major operands, which tells the packings
// that the library prefers; then again, if operands, constants or its result do
// come packed.
//
//===----------------------------------------------------------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/Packing.h"
#include "runtime/device/Allocator.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// The kernel that the executable names for a step; empty where its compiler chose for other threads or settings, or
/// the settings choose among kernels with other bits.
llvm::StringRef Binder::keptImplementation(const Step &step) const {
  const bool isForThreads = !exe.numThreads || exe.numThreads == settings.threads;
  const bool isForSettings =
      settings.kernels.allows(step.implementation) && !(exe.withoutWinograd && settings.kernels.winograd);
  const bool isChosenAnew = exe.isFast && !settings.kernels.areRules();
  return isForThreads && isForSettings && !isChosenAnew ? llvm::StringRef(step.implementation) : "";
}

/// The kernel for inputs and a result in these packings. `rowMajor`: the one for row-major operands, of which it then
/// has the implementation, since that asked for the packings.
llvm::Expected<tuning::Pick> Binder::pick(const Step &step, llvm::ArrayRef<std::string> inputs, llvm::StringRef output,
                                          const PreparedKernel *rowMajor) const {
  Metas operands = metasOf(step.operands), results = metasOf(step.results);
  PrepareRequest request{operatorOf(step.op), operands, results, settings.threads, inputs, output};
  request.settings = settings.kernels;
  request.mayMoveBits = exe.isFast && !rowMajor;
  request.implementation = exe.isFast && rowMajor ? rowMajor->implementation() : keptImplementation(step);
  if (!rowMajor && !exe.isFast)
    request.settings = KernelSettings{settings.kernels.winograd}; // forms of a kernel ask for the same packings
  return tuning::pickKernel(program.device(), request);
}

/// Kernels of the table read row-major operands; the compiler has others copied by a step of their own.
llvm::Error Binder::checkRowMajor(const Step &step) const {
  for (auto [index, value] : llvm::enumerate(step.operands))
    if (!layouts[value].isContiguous())
      return makeError(ErrorCode::DataLoss, step.op.name() + ": operand " + llvm::Twine(index) +
                                                " of a step must be row-major, got " + toString(metas[value]) +
                                                " with strides " + toString(layouts[value].strides));
  return llvm::Error::success();
}

/// Kernels by step, for row-major operands.
std::vector<PreparedRef> Binder::rowMajorKernels() const {
  std::vector<PreparedRef> kernels;
  for (const tuning::Pick &each : libraryKernels)
    kernels.push_back(each.kernel);
  return kernels;
}

llvm::Error Binder::prepareLibrary() {
  libraryKernels.resize(exe.steps.size());
  for (auto [step, kernel] : llvm::zip(exe.steps, libraryKernels)) {
    if (step.kind != StepKind::Library)
      continue;
    if (llvm::Error error = checkRowMajor(step))
      return at(std::move(error), step.location);
    if (llvm::Error error = pick(step, {}, {}, nullptr).moveInto(kernel))
      return at(std::move(error), step.location);
  }
  packings.resize(exe.values.size());
  if (options.packing)
    packings = planPackings(exe, metas, layouts, storage.places, rowMajorKernels());
  bound->packedValues = unsigned(llvm::count_if(packings, [](const Packing &p) { return !p.text.empty(); }));
  if (!exe.constants.empty())
    makeRoomForConstants();
  return llvm::Error::success();
}

/// Lets packed constants take the place of what operators left that ran one by one.
void Binder::makeRoomForConstants() {
  uint64_t bytes = 0;
  for (auto [step, picked] : llvm::zip(exe.steps, libraryKernels))
    if (step.kind == StepKind::Library)
      for (auto [index, value] : llvm::enumerate(step.operands))
        if (const Packing packing = picked.kernel->inputPacking(index);
            exe.values[value].kind == ValueKind::Constant && !packing.text.empty())
          bytes += program.bytesToPack(uint32_t(exe.values[value].constant), packing);
  program.device().allocator().makeRoom(bytes);
}

/// The packings in which the call gets its operands: those of their values, and for constants those that the call
/// prefers.
std::vector<std::string> Binder::operandPackings(const Step &step, const PreparedKernel &kernel) const {
  const KernelDef *def = findKernel(program.device().kernels(), step.op.info().kernel);
  const bool packsConstants = options.packing && def->pack && program.device().hostAccessible();
  std::vector<std::string> texts;
  for (auto [index, value] : llvm::enumerate(step.operands))
    texts.push_back(packsConstants && exe.values[value].kind == ValueKind::Constant ? kernel.inputPacking(index).text
                                                                                    : packings[value].text);
  return texts;
}

/// A constant operand in the packing, which is made once for all bindings.
llvm::Expected<void *> Binder::packedConstant(const Step &step, unsigned operand, const Packing &packing) {
  auto fill = [&](const void *from, void *to) {
    Metas operands = metasOf(step.operands), results = metasOf(step.results);
    const KernelDef *def = findKernel(program.device().kernels(), step.op.info().kernel);
    return def->pack({operatorOf(step.op), operands, results}, operand, packing.text, from, to);
  };
  ++bound->packedValues;
  return program.packedConstant(uint32_t(exe.values[step.operands[operand]].constant), packing, fill);
}

/// Replaces the kernel for row-major operands by that for these packings, where there are any or more than rules
/// decides.
llvm::Error Binder::pickPacked(const Step &step, llvm::ArrayRef<std::string> inputs, llvm::StringRef output,
                               tuning::Pick &picked) const {
  const bool isPacked = !output.empty() || llvm::any_of(inputs, [](const std::string &text) { return !text.empty(); });
  if (!isPacked && settings.kernels.areRules())
    return llvm::Error::success();
  llvm::Expected<tuning::Pick> again = pick(step, inputs, output, picked.kernel.get());
  if (!again)
    return again.takeError();
  if (exe.isFast && again->reason == tuning::Reason::Alone) // the choice was that of the implementation
    picked.kernel = std::move(again->kernel);
  else
    picked = std::move(*again);
  return llvm::Error::success();
}

llvm::Error Binder::addLibrary(const Step &step) {
  tuning::Pick picked = libraryKernels[&step - exe.steps.data()];
  const PreparedRef rowMajor = picked.kernel;
  std::vector<std::string> inputs = operandPackings(step, *rowMajor);
  llvm::StringRef output = packings[step.results[0]].text;
  if (llvm::Error error = pickPacked(step, inputs, output, picked))
    return error;
  PreparedRef kernel = picked.kernel;
  bound->picks.emplace_back(&step, std::move(picked));
  ValueId first = step.operands[0], result = step.results[0];
  if (kernel->updatesOutput() && !sharesMemory(step, 0))
    addCopy(&step, step.op.info().name, byteWidth(metas[result].dtype), placed(first, layouts[first]),
            placed(result, layouts[result]));
  Command &command = newCommand(Command::Library, &step, step.op.info().name);
  command.numInputs = uint16_t(step.operands.size());
  command.numOutputs = uint16_t(step.results.size());
  addScratch(kernel->workspaceBytes());
  bound->needsWorker |= kernel->threads() > 1;
  bound->checksData |= kernel->checksData();
  command.kernel = std::move(kernel);
  for (auto [index, value] : llvm::enumerate(step.operands)) {
    bool isPacked = exe.values[value].kind == ValueKind::Constant && !inputs[index].empty();
    addPointer(value, layouts[value]);
    if (isPacked)
      if (llvm::Error error =
              packedConstant(step, unsigned(index), rowMajor->inputPacking(index)).moveInto(bound->pointers.back()))
        return error;
  }
  for (ValueId value : step.results)
    addPointer(value, layouts[value]);
  return llvm::Error::success();
}

} // namespace tess::runtime
