//===- seeds.cpp - seeds of the corpora from `.tess` files ----------------===//
//
// seeds FOLDER FILE...: what each file holds becomes inputs of the targets, under
// FOLDER/<target>/<file>. Code is not kept: no target looks into it.
//
//===----------------------------------------------------------------------===//
#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <filesystem>
#include <fstream>

using namespace tess;
using namespace tess::runtime;

static void write(const std::filesystem::path &path, llvm::StringRef bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

/// Each operator as text, and with its operands' shapes, up to the first that has none of its own: a loop, or what
/// reads sizes that data decides.
static void writeOperators(const std::filesystem::path &folder, const Executable &executable) {
  std::vector<TensorMeta> metas(executable.values.size());
  for (const InputDecl &input : executable.inputs) {
    metas[input.value].dtype = input.dtype;
    for (DimDecl dim : input.dims)
      metas[input.value].shape.push_back(dim.size < 0 ? 3 : dim.size);
  }
  for (auto [index, value] : llvm::enumerate(executable.values))
    if (value.kind == ValueKind::Constant)
      metas[index] = executable.constants[value.constant].meta;
  for (const ProgramNode &node : executable.nodes) {
    if (!node.op)
      return;
    Metas operands;
    std::string text = node.op.serialize();
    write(folder / "attribute" / node.op.name().str(), text);
    for (ValueId operand : node.operands) {
      operands.push_back(metas[operand]);
      text += "\n" + shortName(operands.back().dtype).str();
      for (int64_t size : operands.back().shape)
        text += " " + std::to_string(size);
    }
    write(folder / "signature" / node.op.name().str(), text);
    llvm::Expected<Metas> results = node.op.infer(operands, node.segments);
    if (!results)
      return llvm::consumeError(results.takeError());
    for (auto [value, meta] : llvm::zip(node.results, *results))
      metas[value] = meta;
  }
}

static void writeExecutable(const std::filesystem::path &folder, const std::string &name, Executable executable) {
  for (Image &image : executable.images) {
    image.bytes.assign(1, '\xc3');
    for (KernelEntry &entry : image.entries)
      entry.offset = 0;
  }
  std::string bytes = serializeExecutable(executable), size(4, '\0');
  llvm::support::endian::write32le(size.data(), uint32_t(bytes.size()));
  write(folder / "executable" / name, bytes);
  write(folder / "flat_executable" / name, size + bytes);
  writeOperators(folder, executable);
}

int main(int argc, char **argv) {
  for (int i = 2; i < argc; ++i) {
    std::filesystem::path path = argv[i];
    auto file = llvm::cantFail(Container::open(path.string()));
    for (const Container::Section &section : file->sections()) {
      llvm::StringRef bytes = llvm::cantFail(file->read(section.kind, section.name));
      std::string name = path.stem().string();
      if (section.kind == SectionKind::Graph)
        write(std::filesystem::path(argv[1]) / "graph" / name, bytes);
      if (section.kind == SectionKind::Executable)
        writeExecutable(argv[1], name, llvm::cantFail(parseExecutable(bytes, name)));
    }
  }
}
