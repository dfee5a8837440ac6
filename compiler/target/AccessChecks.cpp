//===- AccessChecks.cpp - kernels under a sanitizer ----------------------===//
#include "compiler/target/AccessChecks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

// Functions of the sanitizers' runtimes, declared in compiler-rt's sanitizer/asan_interface_internal.h and
// tsan_interface.h.
extern "C" {
#if TESS_SANITIZE_ADDRESS
void __asan_loadN(uintptr_t address, uintptr_t size);
void __asan_storeN(uintptr_t address, uintptr_t size);
#elif TESS_SANITIZE_THREAD
void __tsan_read_range(void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size);
#endif
}

namespace tess::compiler {

namespace {

/// Addresses of functions that take (address, bytes).
struct Checks {
  uintptr_t read = 0, write = 0;
};

Checks checksOfThisBuild() {
#if TESS_SANITIZE_ADDRESS
  return {uintptr_t(&__asan_loadN), uintptr_t(&__asan_storeN)};
#elif TESS_SANITIZE_THREAD
  return {uintptr_t(&__tsan_read_range), uintptr_t(&__tsan_write_range)};
#else
  return {};
#endif
}

struct Access {
  llvm::Instruction *instruction;
  llvm::Value *address;
  llvm::Type *type;
  llvm::Value *mask; // null: every lane
  bool isWrite;
};

std::optional<Access> accessOf(llvm::Instruction &instruction) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return Access{load, load->getPointerOperand(), load->getType(), nullptr, false};
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return Access{store, store->getPointerOperand(), store->getValueOperand()->getType(), nullptr, true};
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return std::nullopt;
  // The mask is the last argument of a store, and of a load the last but one, before the values of the lanes that are
  // off.
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_load)
    return Access{call, call->getArgOperand(0), call->getType(), call->getArgOperand(call->arg_size() - 2), false};
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_store)
    return Access{call, call->getArgOperand(1), call->getArgOperand(0)->getType(),
                  call->getArgOperand(call->arg_size() - 1), true};
  return std::nullopt;
}

/// The bytes of an access. The mask of a tail is on in its first lanes only, so counting lanes is enough.
llvm::Value *bytesOf(llvm::IRBuilder<> &builder, const Access &access, const llvm::DataLayout &layout) {
  llvm::Type *i64 = builder.getInt64Ty();
  if (!access.mask)
    return builder.getInt64(layout.getTypeStoreSize(access.type));
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(access.type)->getNumElements();
  llvm::Value *bits = builder.CreateBitCast(access.mask, builder.getIntNTy(lanes));
  llvm::Value *count = builder.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, builder.CreateZExt(bits, i64));
  return builder.CreateMul(count, builder.getInt64(layout.getTypeStoreSize(access.type->getScalarType())));
}

void addCheck(const Access &access, Checks checks, const llvm::DataLayout &layout) {
  llvm::IRBuilder<> builder(access.instruction);
  llvm::Value *bytes = bytesOf(builder, access, layout);
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt64Ty()}, false);
  llvm::Value *function =
      builder.CreateIntToPtr(builder.getInt64(access.isWrite ? checks.write : checks.read), builder.getPtrTy());
  builder.CreateCall(type, function, {access.address, bytes});
}

} // namespace

void addAccessChecks(llvm::Module &module) {
  Checks checks = checksOfThisBuild();
  if (!checks.read)
    return;
  for (llvm::Function &function : module) {
    llvm::SmallVector<Access, 16> accesses;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (std::optional<Access> access = accessOf(instruction))
        if (!llvm::isa<llvm::AllocaInst>(access->address->stripInBoundsOffsets()))
          accesses.push_back(*access);
    for (const Access &access : accesses)
      addCheck(access, checks, module.getDataLayout());
    function.addFnAttr("frame-pointer", "all"); // the reports walk it
  }
}

} // namespace tess::compiler
