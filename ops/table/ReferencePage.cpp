//===- ReferencePage.cpp - the reference page with its examples of IR ----===//
//
// usage: reference-page TEMPLATE
// Writes the page that tess-tblgen made to stdout: a line `@ir NAME` becomes the
// text of the operator's first sample in the dialect.
//
//===----------------------------------------------------------------------===//
#include "ops/table/Docs.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tess;

static int refuse(const llvm::Twine &message) {
  llvm::errs() << "reference-page: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return refuse("there must be one argument, got " + llvm::Twine(argc - 1));
  auto page = llvm::MemoryBuffer::getFile(argv[1]);
  if (!page)
    return refuse("template must be readable, got '" + llvm::StringRef(argv[1]) + "'");
  for (llvm::line_iterator line(**page, /*SkipBlanks=*/false); !line.is_at_eof(); ++line) {
    llvm::StringRef name = *line;
    if (!name.consume_front("@ir ")) {
      llvm::outs() << *line << "\n";
      continue;
    }
    const OpInfo *info = findOp(name);
    if (!info)
      return refuse("operator must be known, got '" + name + "'");
    llvm::outs() << "```mlir\n" << irExampleOf(*info) << "\n```\n";
  }
  return 0;
}
