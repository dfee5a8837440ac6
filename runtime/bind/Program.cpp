//===- Program.cpp - code and constants of an executable ------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Bind.h"
#include "runtime/bind/Stages.h"
#include "runtime/device/KernelTable.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/StepText.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace tess::runtime {

Program::~Program() = default;

llvm::Expected<std::shared_ptr<Program>> Program::create(Executable executable, ProgramOptions options) {
  if (!options.isValidated)
    if (llvm::Error error = validate(executable, options.name))
      return std::move(error);
  if (!options.device)
    options.device = &hostDevice();
  std::shared_ptr<Program> program(new Program(std::move(executable), std::move(options)));
  llvm::Expected<std::vector<StageCode>> stages = splitAtData(program->exe);
  if (!stages)
    return stages.takeError();
  if (!stages->empty()) {
    if (llvm::Error error = program->createStages(std::move(*stages)))
      return std::move(error);
    return program;
  }
  if (llvm::Error error = program->mapCode())
    return std::move(error);
  if (llvm::Error error = program->placeConstants())
    return std::move(error);
  return program;
}

llvm::Error Program::createStages(std::vector<StageCode> codes) {
  auto made = std::make_shared<Stages>();
  for (StageCode &code : codes) {
    ProgramOptions own = options;
    own.isValidated = false;
    if (options.kernel)
      own.kernel = [kernel = options.kernel, images = std::move(code.images)](unsigned image, unsigned entry) {
        return kernel(unsigned(images[image]), entry);
      };
    llvm::Expected<ProgramRef> program = create(std::move(code.exe), std::move(own));
    if (!program)
      return program.takeError();
    made->push_back({std::move(*program), std::move(code.inputs), std::move(code.outputs), std::move(code.loop)});
  }
  stages = std::move(made);
  return llvm::Error::success();
}

const std::string &Program::operatorsOf(const Step &step) {
  std::call_once(named, [&] {
    for (auto [each, nodes] : llvm::zip_equal(exe.steps, nodesBySteps(exe)))
      stepNames.push_back(each.kind == StepKind::Kernel ? operatorNames(exe, nodes) : "");
  });
  return stepNames[size_t(&step - exe.steps.data())];
}

uint64_t Program::constantBytes() const {
  uint64_t bytes = totalConstantBytes;
  if (stages)
    for (const Stage &stage : *stages)
      bytes += stage.program->constantBytes();
  return bytes;
}

llvm::Error Program::mapCode() {
  for (auto [index, image] : llvm::enumerate(exe.images)) {
    LoadedCodeRef code; // none where the options replace it
    if (!options.kernel)
      if (llvm::Error error = options.device->load(image).moveInto(code))
        return error;
    std::vector<KernelFn> &entries = kernels.emplace_back();
    for (unsigned entry = 0; entry < image.entries.size(); ++entry)
      entries.push_back(code ? code->entry(entry) : options.kernel(unsigned(index), entry));
    images.push_back(std::move(code));
  }
  return llvm::Error::success();
}

/// Places the constants that kernels read. An initial value that no kernel reads stays where it is, because the caller
/// keeps the state.
llvm::Error Program::placeConstants() {
  constants.resize(exe.constants.size());
  constantBuffers.resize(exe.constants.size());
  for (const ValueDecl &value : exe.values)
    if (value.kind == ValueKind::Constant && !constants[value.constant])
      if (llvm::Error error = placeConstant(size_t(value.constant)))
        return error;
  return llvm::Error::success();
}

static size_t rowMajorBytes(const TensorMeta &meta) { return size_t(meta.numElements() * byteWidth(meta.dtype)); }

llvm::Expected<llvm::StringRef> Program::bytesOf(size_t constant) const {
  const ConstantDecl &decl = exe.constants[constant];
  llvm::StringRef bytes = decl.content();
  if (!decl.tensor.empty()) {
    if (!options.tensor)
      return invalidArgument(options.name + ": tensor " + decl.tensor + " must come with the program, got none");
    llvm::Expected<llvm::StringRef> found = options.tensor(decl.tensor);
    if (!found)
      return found.takeError();
    bytes = *found;
  }
  const size_t size = rowMajorBytes(decl.meta);
  if (bytes.size() != size)
    return makeError(ErrorCode::DataLoss, options.name + ": tensor " + decl.tensor + " of " + toString(decl.meta) +
                                              " must have " + llvm::Twine(size) + " bytes, got " +
                                              llvm::Twine(bytes.size()));
  return bytes;
}

/// Copies a constant to device memory, unless the device can read it where somebody holds it and it is aligned.
llvm::Error Program::placeConstant(size_t index) {
  const ConstantDecl &decl = exe.constants[index];
  llvm::StringRef bytes;
  if (llvm::Error error = bytesOf(index).moveInto(bytes))
    return error;
  size_t size = bytes.size();
  totalConstantBytes += size;
  const bool isHeld = decl.held || !decl.tensor.empty();
  if (options.device->hostAccessible() && isHeld &&
      reinterpret_cast<uintptr_t>(bytes.data()) % kConstantAlignment == 0) {
    constants[index] = const_cast<char *>(bytes.data());
    return llvm::Error::success();
  }
  llvm::Expected<BufferRef> buffer = Buffer::allocate(*options.device, size);
  if (!buffer)
    return buffer.takeError();
  constants[index] = (*buffer)->data();
  constantBuffers[index] = std::move(*buffer);
  if (llvm::Error error = options.device->defaultStream().copyIn(constants[index], bytes.data(), size))
    return error;
  if (options.giveBack)
    options.giveBack(bytes);
  return llvm::Error::success();
}

static size_t packedBytes(const TensorMeta &meta, const Packing &packing) {
  return packing.constantBytes ? packing.constantBytes : rowMajorBytes(meta);
}

size_t Program::bytesToPack(uint32_t index, const Packing &packing) {
  std::lock_guard<std::mutex> lock(packedMutex);
  return packedConstants.count({index, packing.text}) ? 0 : packedBytes(exe.constants[index].meta, packing);
}

llvm::Expected<void *> Program::packedConstant(uint32_t index, const Packing &packing,
                                               llvm::function_ref<llvm::Error(const void *from, void *to)> fill) {
  std::lock_guard<std::mutex> lock(packedMutex);
  BufferRef &buffer = packedConstants[{index, packing.text}];
  if (buffer)
    return buffer->data();
  const TensorMeta &meta = exe.constants[index].meta;
  const size_t size = packedBytes(meta, packing);
  llvm::Expected<BufferRef> made = Buffer::allocate(*options.device, size);
  if (!made)
    return made.takeError();
  if (llvm::Error error = fill(constants[index], (*made)->data()))
    return std::move(error);
  totalConstantBytes += size;
  buffer = std::move(*made);
  if (options.giveBack)
    options.giveBack({static_cast<const char *>(constants[index]), rowMajorBytes(meta)});
  return buffer->data();
}

} // namespace tess::runtime
