//===- Codegen.cpp - kernels to code images ------------------------------===//
//
// No LLVM IR passes run: the emitter writes kernels in their final form, and the
// pass pipeline, when measured, doubled compile time for no speed.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Codegen.h"

#include "compiler/emit/KernelEmitter.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/target/AccessChecks.h"
#include "compiler/target/Backend.h"
#include "compiler/target/GridKernel.h"
#include "compiler/target/ImageBuilder.h"
#include "compiler/target/Verification.h"
#include "ops/vocabulary/Error.h"

#include "mlir/IR/Verifier.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace tess::compiler {

namespace {

/// LLVM's passes from a module to a file. They are set up once for many modules, because setting up takes a tenth of
/// the time of a small kernel.
struct Emitter {
  static constexpr unsigned kMaxModules = 64; // a context keeps the types and constants of all its modules

  llvm::LLVMContext context;
  llvm::SmallVector<char, 0> file;
  llvm::raw_svector_ostream stream{file};
  llvm::legacy::PassManager passes;
  unsigned modules = 0;
};

} // namespace

struct CodeGenerator::Impl {
  TargetSpec target;
  Backend backend;
  std::unique_ptr<Emitter> objects; // null until the first compile()
  bool verify = verifiesByDefault();
  uint64_t numVerified = 0;

  Impl(const TargetSpec &target, std::unique_ptr<llvm::TargetMachine> machine)
      : target(target), backend("codegen", std::move(machine)) {}
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> emit(llvm::ArrayRef<NamedKernel> kernels,
                                                         std::vector<runtime::KernelEntry> &entries);
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context);
  /// Calls emit(), then translate().
  llvm::Expected<std::unique_ptr<llvm::Module>>
  lower(llvm::ArrayRef<NamedKernel> kernels, std::vector<runtime::KernelEntry> &entries, llvm::LLVMContext &context);
  llvm::Expected<std::unique_ptr<Emitter>> makeEmitter(llvm::CodeGenFileType type);
  llvm::Error generate(Emitter &emitter, llvm::Module &module);
};

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeMachine(const TargetSpec &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  auto found = findTarget("codegen", triple);
  if (!found)
    return found.takeError();
  llvm::TargetOptions options = strictOptions();
  options.MCOptions.AsmVerbose = false;
  return std::unique_ptr<llvm::TargetMachine>(
      (*found)->createTargetMachine(triple, "x86-64", target.features + ",-prefer-256-bit", options, llvm::Reloc::PIC_,
                                    llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less,
                                    /*JIT=*/true));
}

CodeGenerator::CodeGenerator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CodeGenerator::~CodeGenerator() = default;
const TargetSpec &CodeGenerator::target() const { return impl->target; }
void CodeGenerator::setVerify(bool verify) { impl->verify = verify; }
uint64_t CodeGenerator::numVerified() const { return impl->numVerified; }

llvm::Expected<std::unique_ptr<CodeGenerator>> CodeGenerator::create(const TargetSpec &target) {
  auto machine = makeMachine(target);
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<CodeGenerator>(new CodeGenerator(std::make_unique<Impl>(target, std::move(*machine))));
}

static llvm::Expected<runtime::KernelEntry> emitRangeFunction(mlir::ModuleOp module, const std::string &name,
                                                              const KernelSpec &spec,
                                                              const KernelEmitOptions &options) {
  llvm::Expected<KernelPlan> plan = emitKernel(module, name, spec, options);
  if (!plan)
    return plan.takeError();
  return runtime::KernelEntry{name, 0, plan->scratchBytesPerElement, picosecondsPerElement(spec),
                              plan->scratchBytesPerChunk};
}

static llvm::Expected<runtime::KernelEntry> emitGridFunction(mlir::ModuleOp module, const std::string &name,
                                                             const KernelSpec &spec, const KernelEmitOptions &options) {
  if (llvm::Error error = checkKernel(module, name, spec))
    return std::move(error);
  emitGridKernel(module, name, spec, options);
  return runtime::KernelEntry{name, 0, 0, picosecondsPerElement(spec), 0, gridEntryOf(spec)};
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
CodeGenerator::Impl::emit(llvm::ArrayRef<NamedKernel> kernels, std::vector<runtime::KernelEntry> &entries) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&backend.context()));
  KernelEmitOptions options;
  options.narrowMasks = target.has("avx512bw");
  options.contraction = {target.has("avx512bf16"), target.has("avx512vnni"), target.has("avx512bw")};
  for (const auto &[name, spec] : kernels) {
    if (target.isGrid() && spec.contracts())
      return invalidArgument("codegen: a kernel that contracts must be for a processor, got " + target.describe());
    auto entry = target.isGrid() ? emitGridFunction(*module, name, spec, options)
                                 : emitRangeFunction(*module, name, spec, options);
    if (!entry)
      return entry.takeError();
    entries.push_back(std::move(*entry));
  }
  numVerified += verify;
  if (verify && failed(mlir::verify(*module)))
    return backend.fail("verification");
  return module;
}

llvm::Expected<std::unique_ptr<llvm::Module>> CodeGenerator::Impl::translate(mlir::ModuleOp module,
                                                                             llvm::LLVMContext &llvmContext) {
  auto result = backend.translate(module, llvmContext);
  if (!result)
    return result.takeError();
  for (llvm::Function &function : **result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", "512");
    function.setDoesNotThrow();
  }
  return result;
}

llvm::Expected<std::unique_ptr<llvm::Module>> CodeGenerator::Impl::lower(llvm::ArrayRef<NamedKernel> kernels,
                                                                         std::vector<runtime::KernelEntry> &entries,
                                                                         llvm::LLVMContext &context) {
  auto module = emit(kernels, entries);
  if (!module)
    return module.takeError();
  auto llvmModule = translate(**module, context);
  if (llvmModule && target.level == TargetLevel::HostChecked)
    addAccessChecks(**llvmModule);
  return llvmModule;
}

llvm::Expected<std::unique_ptr<Emitter>> CodeGenerator::Impl::makeEmitter(llvm::CodeGenFileType type) {
  auto emitter = std::make_unique<Emitter>();
  backend.listenTo(emitter->context);
  if (llvm::Error error = backend.addPasses(emitter->passes, emitter->stream, type))
    return std::move(error);
  return emitter;
}

llvm::Error CodeGenerator::Impl::generate(Emitter &emitter, llvm::Module &module) {
  emitter.file.clear();
  ++emitter.modules;
  return backend.run(emitter.passes, module);
}

llvm::Expected<runtime::Image> CodeGenerator::compile(llvm::ArrayRef<NamedKernel> kernels) {
  impl->backend.clearMessages();
  if (!impl->objects || impl->objects->modules == Emitter::kMaxModules) {
    auto emitter = impl->makeEmitter(llvm::CodeGenFileType::ObjectFile);
    if (!emitter)
      return emitter.takeError();
    impl->objects = std::move(*emitter);
  }
  std::vector<runtime::KernelEntry> entries;
  auto module = impl->lower(kernels, entries, impl->objects->context);
  if (!module)
    return module.takeError();
  if (llvm::Error error = impl->generate(*impl->objects, **module)) {
    module->reset();
    impl->objects = nullptr; // its passes may have stopped half-way
    return std::move(error);
  }
  llvm::ArrayRef<char> object = impl->objects->file;
  auto image = buildImage({object.data(), object.size()}, std::move(entries), impl->target.features);
  if (image)
    image->kind = impl->target.isGrid() ? runtime::ImageKind::Grid : runtime::ImageKind::Loops;
  return image;
}

llvm::Expected<std::string> CodeGenerator::dumpLlvm(const KernelSpec &spec) {
  std::vector<runtime::KernelEntry> entries;
  llvm::LLVMContext context;
  auto llvmModule = impl->lower({{"kernel", spec}}, entries, context);
  if (!llvmModule)
    return llvmModule.takeError();
  return textOf(**llvmModule);
}

llvm::Expected<std::string> CodeGenerator::dumpAssembly(const KernelSpec &spec) {
  auto emitter = impl->makeEmitter(llvm::CodeGenFileType::AssemblyFile);
  if (!emitter)
    return emitter.takeError();
  std::vector<runtime::KernelEntry> entries;
  auto module = impl->lower({{"kernel", spec}}, entries, (*emitter)->context);
  if (!module)
    return module.takeError();
  if (llvm::Error error = impl->generate(**emitter, **module))
    return std::move(error);
  llvm::ArrayRef<char> text = (*emitter)->file;
  return std::string(text.begin(), text.end());
}

} // namespace tess::compiler
