//===- ProgramFile.cpp - graphs and executables in `.tess` files ----------===//
#include "compiler/ProgramFile.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"

#include "llvm/ADT/DenseMap.h"

using namespace tess::runtime;

namespace tess::compiler {
namespace {

using Tensors = std::vector<ir::Graph::TensorRef>;

/// Replaces the bytes of constants that equal a tensor of the graph by its name, so that the file holds them once.
void shareTensors(Executable &executable, const Tensors &tensors) {
  llvm::DenseMap<llvm::StringRef, llvm::StringRef> sectionOf; // bytes -> section
  for (const ir::Graph::TensorRef &tensor : tensors)
    sectionOf.try_emplace(*tensor.bytes, tensor.name);
  for (ConstantDecl &constant : executable.constants) {
    auto found = sectionOf.find(constant.content());
    if (found == sectionOf.end())
      continue;
    constant.tensor = found->second.str();
    constant.bytes.clear();
    constant.held = nullptr;
  }
}

/// The error with `who` in front of its message.
llvm::Error opened(llvm::StringRef who, llvm::Error error) {
  if (!error)
    return error;
  auto [code, message] = takeError(std::move(error));
  return makeError(code, who + ": " + message);
}

} // namespace

llvm::Expected<WrittenProgram> writeProgram(llvm::StringRef path, const ir::Graph &graph,
                                            llvm::ArrayRef<std::string> targets, const Metadata &metadata,
                                            CompileOptions options) {
  Tensors tensors;
  llvm::Expected<std::string> graphBytes = graph.serialize(tensors);
  if (!graphBytes)
    return graphBytes.takeError();
  std::vector<std::string> programs;
  for (const std::string &target : targets) {
    if (target == "host-checked")
      return invalidArgument("target: code in a file must be good in other processes, got " + target);
    options.target = target;
    llvm::Expected<Executable> executable = compile(graph, options);
    if (!executable)
      return executable.takeError();
    shareTensors(*executable, tensors);
    programs.push_back(serializeExecutable(*executable));
  }
  std::vector<SectionData> sections = {{SectionKind::Graph, "", *graphBytes}};
  for (auto [target, bytes] : llvm::zip(targets, programs))
    sections.push_back({SectionKind::Executable, target, bytes});
  for (const auto &[key, text] : metadata)
    sections.push_back({SectionKind::Meta, key, text});
  for (const ir::Graph::TensorRef &tensor : tensors)
    sections.push_back({SectionKind::Tensor, tensor.name, *tensor.bytes});
  WrittenProgram written{ir::summarize(graph), {}};
  if (llvm::Error error = opened("dump", writeContainer(path, sections, &written.file)))
    return std::move(error);
  return written;
}

static llvm::Expected<ir::Graph> graphOf(const std::shared_ptr<Container> &file, Metadata *metadata) {
  Tensors tensors;
  for (const Container::Section &section : file->sections()) {
    if (section.kind != SectionKind::Tensor && section.kind != SectionKind::Meta)
      continue;
    llvm::Expected<llvm::StringRef> bytes = file->read(section.kind, section.name);
    if (!bytes)
      return bytes.takeError();
    if (section.kind == SectionKind::Tensor)
      tensors.push_back({section.name, {}, hold(*bytes, file)});
    else if (metadata)
      (*metadata)[section.name] = bytes->str();
  }
  llvm::Expected<llvm::StringRef> bytes = file->read(SectionKind::Graph, "");
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<ir::Graph> graph = ir::Graph::parse(*bytes, tensors);
  if (!graph)
    return opened(file->path(), graph.takeError());
  return graph;
}

llvm::Expected<ir::Graph> readGraph(const std::shared_ptr<Container> &file, Metadata *metadata) {
  llvm::Expected<ir::Graph> graph = graphOf(file, metadata);
  if (!graph)
    return file->causeOf(graph.takeError());
  return graph;
}

llvm::Expected<ir::Graph> readGraph(llvm::StringRef path, Metadata *metadata) {
  llvm::Expected<std::shared_ptr<Container>> file = Container::open(path);
  return file ? readGraph(*file, metadata) : file.takeError();
}

} // namespace tess::compiler
