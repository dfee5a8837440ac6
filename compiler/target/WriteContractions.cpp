//===- WriteContractions.cpp - the kernels that every build has -----------===//
//
// usage: write_contractions LEVEL NAME; prints an assembler file with the code of
// every tile for LEVEL and a table NAME of them (runtime/contract/Kernels.h).
// Programs thus compile no product.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Codegen.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/TileEntry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tess;
using namespace tess::compiler;
using runtime::TileEntry;
using runtime::TileLines;

namespace {

/// The largest tiles of a dtype of which the sums, the lines and an element of a row are in registers.
struct Tiles {
  DType dtype;
  uint8_t rows, panels; // of the tile for many rows
  uint8_t rowPanels;    // of the one for a single row
  TileLines lines = TileLines::Numbers;
};

/// Kernels of a level; `feature`: of its processors, beyond those of `target`.
struct Level {
  llvm::StringLiteral name, target, feature;
  std::vector<Tiles> tiles;
};

std::vector<Level> levels() {
  return {
      {"x86-64-v3",
       "x86-64-v3",
       "",
       {{DType::Float32, 6, 1, 4},
        {DType::Float64, 3, 1, 2},
        {DType::BFloat16, 4, 1, 2},
        {DType::Int8, 3, 1, 2},
        {DType::UInt8, 3, 1, 2},
        {DType::Float32, 2, 1, 2, TileLines::Bytes},
        {DType::Float32, 2, 1, 2, TileLines::Nibbles},
        {DType::Int8, 4, 1, 4, TileLines::Bytes},
        {DType::Int8, 4, 1, 4, TileLines::Nibbles}}},
      {"x86-64-v4",
       "x86-64-v4",
       "",
       {{DType::Float32, 14, 2, 8},
        {DType::Float64, 14, 1, 4},
        {DType::BFloat16, 10, 2, 8},
        {DType::Int8, 10, 2, 8},
        {DType::UInt8, 10, 2, 8},
        {DType::Float32, 4, 2, 8, TileLines::Bytes},
        {DType::Float32, 4, 2, 8, TileLines::Nibbles},
        {DType::Int8, 8, 2, 4, TileLines::Bytes},
        {DType::Int8, 8, 2, 4, TileLines::Nibbles}}},
      {"x86-64-v4+avx512vnni",
       "x86-64-v4",
       "+avx512vnni",
       {{DType::Int8, 14, 2, 8},
        {DType::UInt8, 14, 2, 8},
        {DType::Int8, 8, 2, 4, TileLines::Bytes},
        {DType::Int8, 8, 2, 4, TileLines::Nibbles}}},
      {"x86-64-v4+avx512bf16", "x86-64-v4", "+avx512bf16", {{DType::BFloat16, 14, 2, 8}}},
  };
}

/// The dtype of the right operand's lines.
DType lineDType(const TileEntry &tile) {
  switch (tile.lines) {
  case TileLines::Numbers:
    return isInt(tile.dtype) ? DType::Int8 : tile.dtype;
  case TileLines::Bytes:
    return isInt(tile.dtype) ? DType::UInt8 : DType::Int8;
  case TileLines::Nibbles:
    return DType::UInt32;
  }
  llvm_unreachable("covered switch");
}

DType sumDType(const TileEntry &tile) {
  if (isInt(tile.dtype) && tile.lines == TileLines::Numbers)
    return DType::Int32;
  return tile.dtype == DType::Float64 ? DType::Float64 : DType::Float32;
}

class SpecWriter {
public:
  explicit SpecWriter(const TileEntry &tile) {
    spec.numParallel = 2;
    spec.numReduced = tile.lines == TileLines::Numbers ? 1 : 2;
    spec.order = ReductionOrder::Chunked;
    spec.tile = {tile.rows, tile.panels};
    const DType sum = sumDType(tile);
    KernelNode contract{NodeKind::Contract, sum};
    contract.args = {load(tile.dtype, InnerClass::Broadcast), load(lineDType(tile), InnerClass::Contiguous)};
    if (tile.lines != TileLines::Numbers) {
      contract.args[1] = convert(contract.args[1], tile);
      contract.args.push_back(load(DType::Float32, InnerClass::Contiguous));
    }
    const int16_t result = add(std::move(contract));
    spec.operands.push_back({sum, true, InnerClass::Contiguous, false});
    spec.stores.push_back({result, int16_t(spec.operands.size() - 1)});
  }

  KernelSpec spec;

private:
  int16_t add(KernelNode node) {
    spec.nodes.push_back(std::move(node));
    return int16_t(spec.nodes.size() - 1);
  }

  int16_t load(DType dtype, InnerClass inner) {
    spec.operands.push_back({dtype, false, inner, true});
    KernelNode node{NodeKind::Load, dtype};
    node.operand = int16_t(spec.operands.size() - 1);
    return add(std::move(node));
  }

  /// Lines as they are multiplied: as float32, or by int8 as unsigned bytes.
  int16_t convert(int16_t lines, const TileEntry &tile) {
    const bool isOfBytes = tile.lines == TileLines::Bytes, byBytes = isInt(tile.dtype);
    if (isOfBytes && byBytes)
      return lines;
    KernelNode node{isOfBytes ? NodeKind::Apply : NodeKind::Unpack, byBytes ? DType::UInt8 : DType::Float32};
    node.fn = ScalarFn::Cast;
    node.args = {lines};
    return add(std::move(node));
  }
};

/// Tiles of every height, of one panel and of most; of one row, of a power of two each. Rows that share converted lines
/// have as many sums in the inner loop as there are registers for; those of groups wait in memory.
std::vector<TileEntry> entriesOf(const Level &level) {
  std::vector<TileEntry> entries;
  for (const Tiles &most : level.tiles) {
    for (uint8_t rows = 1; rows <= most.rows; ++rows)
      for (uint8_t panels = 1; panels <= most.panels; ++panels)
        entries.push_back({nullptr, most.dtype, rows, panels, most.lines});
    const bool converts = most.lines != TileLines::Numbers, isOfFloats = most.dtype == DType::Float32;
    const unsigned few = converts ? most.rows : 1, mostSums = most.rowPanels * (converts && isOfFloats ? 2 : 1);
    for (unsigned rows = 1; rows <= few; ++rows)
      for (unsigned panels = most.panels * 2; panels <= most.rowPanels && rows * panels <= mostSums; panels *= 2)
        entries.push_back({nullptr, most.dtype, uint8_t(rows), uint8_t(panels), most.lines});
  }
  return entries;
}

std::string nameOf(const TileEntry &entry) {
  constexpr const char *kLines[] = {"", "_bytes", "_nibbles"}; // by TileLines
  return "contract_" + std::string(shortName(entry.dtype)) + kLines[unsigned(entry.lines)] + "_" +
         std::to_string(entry.rows) + "x" + std::to_string(entry.panels);
}

llvm::Expected<runtime::Image> compileAll(const Level &level, llvm::ArrayRef<TileEntry> entries) {
  llvm::Expected<TargetSpec> target = TargetSpec::parse(level.target);
  if (!target)
    return target.takeError();
  if (!level.feature.empty())
    target->features += "," + level.feature.str();
  auto generator = CodeGenerator::create(*target);
  if (!generator)
    return generator.takeError();
  std::vector<CodeGenerator::NamedKernel> kernels;
  for (const TileEntry &entry : entries)
    kernels.push_back({nameOf(entry), SpecWriter(entry).spec});
  return (*generator)->compile(kernels);
}

void printBytes(llvm::raw_ostream &os, llvm::StringRef bytes) {
  constexpr size_t kPerLine = 32;
  for (; !bytes.empty(); bytes = bytes.drop_front(std::min(kPerLine, bytes.size()))) {
    os << "\t.byte ";
    llvm::interleave(bytes.take_front(kPerLine), os, [&](char byte) { os << unsigned(uint8_t(byte)); }, ",");
    os << '\n';
  }
}

/// The image among the code of the library, with a local symbol for each kernel, which profilers show.
void print(llvm::raw_ostream &os, llvm::StringRef name, const runtime::Image &image,
           llvm::ArrayRef<TileEntry> entries) {
  os << "\t.section .text." << name << ",\"ax\",@progbits\n\t.balign 64\n.L" << name << "_code:\n";
  printBytes(os, image.code());
  for (const runtime::KernelEntry &entry : image.entries)
    os << "\t.type " << name << '_' << entry.name << ",@function\n\t.set " << name << '_' << entry.name << ", .L"
       << name << "_code+" << entry.offset << '\n';
  os << "\t.section .data.rel.ro." << name << ",\"aw\",@progbits\n\t.balign 8\n\t.globl " << name << "\n\t.hidden "
     << name << '\n'
     << name << ":\n";
  for (auto [entry, place] : llvm::zip_equal(entries, image.entries))
    os << "\t.quad " << name << '_' << place.name << "\n\t.long " << unsigned(entry.dtype) << "\n\t.byte "
       << unsigned(entry.rows) << ", " << unsigned(entry.panels) << ", " << unsigned(entry.lines) << ", 0\n";
  os << "\t.quad 0, 0\n\t.section .note.GNU-stack,\"\",@progbits\n";
}

llvm::Error write(llvm::StringRef wanted, llvm::StringRef name) {
  for (const Level &level : levels()) {
    if (level.name != wanted)
      continue;
    std::vector<TileEntry> entries = entriesOf(level);
    llvm::Expected<runtime::Image> image = compileAll(level, entries);
    if (!image)
      return image.takeError();
    print(llvm::outs(), name, *image, entries);
    return llvm::Error::success();
  }
  return invalidArgument("write_contractions: level must be one of those with kernels, got " + wanted);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: write_contractions LEVEL NAME\n";
    return 2;
  }
  if (llvm::Error error = write(argv[1], argv[2])) {
    llvm::errs() << takeError(std::move(error)).second << '\n';
    return 1;
  }
  return 0;
}
