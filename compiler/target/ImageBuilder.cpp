//===- ImageBuilder.cpp - object file to code image ----------------------===//
#include "compiler/target/ImageBuilder.h"

#include "ops/vocabulary/Error.h"
#include "runtime/schema/ImageHash.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

namespace tess::compiler {

using namespace llvm::object;

namespace {

/// Flattens one object file into an image. A place is an offset into the image.
class Flattener {
public:
  explicit Flattener(const ObjectFile &file) : file(file) {}

  llvm::Error placeSections();
  llvm::Error relocate();
  llvm::Error findEntries(std::vector<runtime::KernelEntry> &entries);
  std::string bytes;

private:
  llvm::Error relocateOne(uint64_t sectionPlace, const ELFRelocationRef &relocation);
  /// The place of a symbol; fails when it is not in the image.
  llvm::Expected<int64_t> placeOf(const SymbolRef &symbol);

  const ObjectFile &file;
  llvm::DenseMap<uint64_t, uint64_t> places; // section index -> offset
};

/// Whether an image needs the section. Unwind tables are left out, because kernels call nothing and throw nothing.
bool isNeeded(const ELFSectionRef &section, llvm::StringRef name) {
  return (section.getFlags() & llvm::ELF::SHF_ALLOC) && section.getType() != llvm::ELF::SHT_X86_64_UNWIND &&
         name != ".eh_frame" && section.getSize();
}

llvm::Error Flattener::placeSections() {
  for (const SectionRef &section : file.sections()) {
    ELFSectionRef elf(section);
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (!isNeeded(elf, *name))
      continue;
    if (elf.getFlags() & llvm::ELF::SHF_WRITE)
      return makeError(ErrorCode::Internal, "codegen: a kernel must have no writable data, got section " + *name);
    llvm::Expected<llvm::StringRef> contents = section.getContents();
    if (!contents)
      return contents.takeError();
    bytes.resize(llvm::alignTo(bytes.size(), section.getAlignment()));
    places[section.getIndex()] = bytes.size();
    bytes += *contents;
  }
  return llvm::Error::success();
}

llvm::Expected<int64_t> Flattener::placeOf(const SymbolRef &symbol) {
  llvm::Expected<section_iterator> section = symbol.getSection();
  if (!section)
    return section.takeError();
  llvm::Expected<llvm::StringRef> name = symbol.getName();
  if (!name)
    return name.takeError();
  if (*section == file.section_end() || !places.contains((*section)->getIndex()))
    return makeError(ErrorCode::Internal, "codegen: a kernel must need nothing outside its image, got symbol " + *name);
  llvm::Expected<uint64_t> value = symbol.getValue();
  if (!value)
    return value.takeError();
  return int64_t(places[(*section)->getIndex()] + *value);
}

llvm::Error Flattener::relocateOne(uint64_t sectionPlace, const ELFRelocationRef &relocation) {
  uint64_t type = relocation.getType();
  llvm::Expected<int64_t> target = placeOf(*relocation.getSymbol());
  if (!target)
    return target.takeError();
  if (type != llvm::ELF::R_X86_64_PC32 && type != llvm::ELF::R_X86_64_PLT32)
    return makeError(ErrorCode::Internal,
                     "codegen: relocations must be PC-relative, got type " + llvm::Twine(relocation.getType()));
  llvm::Expected<int64_t> addend = relocation.getAddend();
  if (!addend)
    return addend.takeError();
  uint64_t place = sectionPlace + relocation.getOffset();
  llvm::support::endian::write32le(bytes.data() + place, uint32_t(*target + *addend - int64_t(place)));
  return llvm::Error::success();
}

llvm::Error Flattener::relocate() {
  for (const SectionRef &section : file.sections()) {
    llvm::Expected<section_iterator> relocated = section.getRelocatedSection();
    if (!relocated)
      return relocated.takeError();
    if (*relocated == file.section_end() || !places.contains((*relocated)->getIndex()))
      continue;
    uint64_t place = places[(*relocated)->getIndex()];
    for (const RelocationRef &relocation : section.relocations())
      if (llvm::Error error = relocateOne(place, relocation))
        return error;
  }
  return llvm::Error::success();
}

llvm::Error Flattener::findEntries(std::vector<runtime::KernelEntry> &entries) {
  for (runtime::KernelEntry &entry : entries) {
    bool found = false;
    for (const SymbolRef &symbol : file.symbols()) {
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      if (!name)
        return name.takeError();
      if (*name != entry.name)
        continue;
      llvm::Expected<int64_t> place = placeOf(symbol);
      if (!place)
        return place.takeError();
      entry.offset = *place;
      found = true;
    }
    if (!found)
      return makeError(ErrorCode::Internal,
                       "codegen: every kernel must be in the object, got none named " + entry.name);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<runtime::Image> buildImage(llvm::StringRef object, std::vector<runtime::KernelEntry> entries,
                                          llvm::StringRef features) {
  auto file = ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file)
    return file.takeError();
  Flattener flattener(**file);
  if (llvm::Error error = flattener.placeSections())
    return error;
  if (llvm::Error error = flattener.relocate())
    return error;
  if (llvm::Error error = flattener.findEntries(entries))
    return error;
  runtime::Image image;
  image.bytes = std::move(flattener.bytes);
  image.entries = std::move(entries);
  image.features = features.str();
  image.hash = runtime::imageHash(image.bytes);
  return image;
}

} // namespace tess::compiler
