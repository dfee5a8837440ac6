//===- LibraryCalls.cpp - calls of the kernel table -----------------------===//
//
// A call is prepared first for row-major operands, which tells the packings
// that the library prefers; then again, if operands, constants or its result do
// come packed.
//
//===----------------------------------------------------------------------===//
#include "ops/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/Packing.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// The lists that a PrepareRequest refers to.
struct Binder::LibraryRequest {
  Metas inputs, outputs;
  std::vector<std::string> packings;

  PrepareRequest get(const Step &step) const { return {step.op, inputs, outputs}; }
};

Binder::LibraryRequest Binder::libraryRequest(const Step &step) const {
  LibraryRequest request;
  for (ValueId value : step.operands)
    request.inputs.push_back(metas[value]);
  for (ValueId value : step.results)
    request.outputs.push_back(metas[value]);
  return request;
}

llvm::Expected<PreparedRef> Binder::prepare(const Step &step, const LibraryRequest &operands) const {
  PrepareRequest request = operands.get(step);
  request.threads = threads;
  if (!exe.numThreads || exe.numThreads == threads)
    request.implementation = step.implementation;
  request.inputPackings = operands.packings;
  if (!operands.packings.empty())
    request.outputPacking = packings[step.results[0]].text;
  return prepareKernel(program.device().kernels(), request);
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

llvm::Error Binder::prepareLibrary() {
  libraryKernels.resize(exe.steps.size());
  for (auto [step, kernel] : llvm::zip(exe.steps, libraryKernels)) {
    if (step.kind != StepKind::Library)
      continue;
    if (llvm::Error error = checkOperator(step))
      return at(std::move(error), step.location);
    if (llvm::Error error = checkRowMajor(step))
      return at(std::move(error), step.location);
    llvm::Expected<PreparedRef> prepared = prepare(step, libraryRequest(step));
    if (!prepared)
      return at(prepared.takeError(), step.location);
    kernel = std::move(*prepared);
  }
  packings.resize(exe.values.size());
  if (packs)
    packings = planPackings(exe, metas, layouts, storage.places, libraryKernels);
  bound->packedValues = unsigned(llvm::count_if(packings, [](const Packing &p) { return !p.text.empty(); }));
  return llvm::Error::success();
}

/// The packing in which the call gets operand number `operand`: that of its value, or for a constant the one that the
/// call prefers.
std::string Binder::operandPacking(const Step &step, const PreparedKernel &kernel, unsigned operand) const {
  ValueId value = step.operands[operand];
  const KernelDef *def = findKernel(program.device().kernels(), step.op.info().kernel);
  bool isConstant =
      exe.values[value].kind == ValueKind::Constant && def && def->pack && program.device().hostAccessible();
  return isConstant && packs ? kernel.inputPacking(operand).text : packings[value].text;
}

/// Adds pointers for the operands; a constant is packed here.
llvm::Error Binder::addOperands(const Step &step, const LibraryRequest &request) {
  for (auto [index, value] : llvm::enumerate(step.operands)) {
    if (exe.values[value].kind != ValueKind::Constant || request.packings.empty() || request.packings[index].empty()) {
      addPointer(value, layouts[value].offset);
      continue;
    }
    const KernelDef *def = findKernel(program.device().kernels(), step.op.info().kernel);
    auto fill = [&](const void *from, void *to) {
      return def->pack(request.get(step), unsigned(index), request.packings[index], from, to);
    };
    llvm::Expected<void *> data =
        program.packedConstant(uint32_t(exe.values[value].constant), request.packings[index], fill);
    if (!data)
      return data.takeError();
    ++bound->packedValues;
    bound->pointers.push_back(*data);
  }
  return llvm::Error::success();
}

llvm::Error Binder::addLibrary(const Step &step) {
  PreparedRef kernel = libraryKernels[&step - exe.steps.data()];
  LibraryRequest request = libraryRequest(step);
  bool packed = !packings[step.results[0]].text.empty();
  for (unsigned operand = 0; operand < step.operands.size(); ++operand) {
    request.packings.push_back(operandPacking(step, *kernel, operand));
    packed |= !request.packings.back().empty();
  }
  if (!packed)
    request.packings.clear();
  llvm::Expected<PreparedRef> prepared = packed ? prepare(step, request) : kernel;
  if (!prepared)
    return prepared.takeError();
  if ((*prepared)->updatesOutput())
    addWholeCopy(step, 0);
  Command &command = newCommand(Command::Library, &step);
  command.label = step.op.info().name;
  command.numInputs = uint16_t(step.operands.size());
  command.numOutputs = uint16_t(step.results.size());
  if ((*prepared)->workspaceBytes()) {
    scratchOf.back() = int32_t(storage.allocations.size());
    int32_t index = int32_t(&step - exe.steps.data());
    storage.allocations.push_back({int64_t((*prepared)->workspaceBytes()), index, index});
  }
  bound->needsWorker |= (*prepared)->threads() > 1;
  bound->checksData |= (*prepared)->checksData();
  command.kernel = std::move(*prepared);
  if (llvm::Error error = addOperands(step, request))
    return error;
  for (ValueId value : step.results)
    addPointer(value, layouts[value].offset);
  return llvm::Error::success();
}

} // namespace tess::runtime
