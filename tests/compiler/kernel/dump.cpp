//===- dump.cpp - the code of a kernel's text, for FileCheck --------------===//
//
// usage: kernel_dump FILE KERNEL TARGET[+FEATURE] llvm|asm; the kernel's text stands
// in FILE between a line "KERNEL:" and the next empty line.
//
//===----------------------------------------------------------------------===//
#include "compiler/kernel/KernelSpec.h"
#include "compiler/target/Codegen.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tess;
using namespace tess::compiler;

namespace {

llvm::Expected<KernelSpec> read(const char *file, llvm::StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return invalidArgument(llvm::Twine("kernel_dump: file must be readable, got ") + file);
  auto [before, text] = (*buffer)->getBuffer().split(("\n" + name + ":\n").str());
  if (text.empty())
    return invalidArgument("kernel_dump: kernel must be in the file, got " + name);
  return KernelSpec::parse(text.split("\n\n").first);
}

llvm::Expected<std::string> dump(char **arguments) {
  llvm::Expected<KernelSpec> spec = read(arguments[0], arguments[1]);
  if (!spec)
    return spec.takeError();
  auto [level, feature] = llvm::StringRef(arguments[2]).split('+');
  llvm::Expected<TargetSpec> target = TargetSpec::parse(level);
  if (!target)
    return target.takeError();
  if (!feature.empty())
    target->features += ",+" + feature.str();
  auto generator = CodeGenerator::create(*target);
  if (!generator)
    return generator.takeError();
  return llvm::StringRef(arguments[3]) == "llvm" ? (*generator)->dumpLlvm(*spec) : (*generator)->dumpAssembly(*spec);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    llvm::errs() << "usage: kernel_dump FILE KERNEL TARGET[+FEATURE] llvm|asm\n";
    return 2;
  }
  llvm::Expected<std::string> text = dump(argv + 1);
  if (!text) {
    llvm::errs() << takeError(text.takeError()).second << '\n';
    return 1;
  }
  llvm::outs() << *text;
  return 0;
}
