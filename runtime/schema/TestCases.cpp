//===- TestCases.cpp - what tests a program, in its file ------------------===//
#include "runtime/schema/TestCases.h"
#include "ops/vocabulary/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tess::runtime {

static constexpr llvm::StringLiteral kMaxError = "max_error", kVerbose = "verbose", kInput = "in", kOutput = "out";
static constexpr unsigned kMaxCases = 1u << 16;

llvm::Error writeWithTests(const Container &program, llvm::StringRef path, const TestCases &tests,
                           WrittenFile *written) {
  std::vector<SectionData> sections;
  for (const Container::Section &section : program.sections()) {
    if (section.kind == SectionKind::Test)
      continue;
    llvm::Expected<llvm::StringRef> bytes = program.read(section.kind, section.name);
    if (!bytes)
      return bytes.takeError();
    sections.push_back({section.kind, section.name, *bytes});
  }
  std::string maxError;
  llvm::raw_string_ostream(maxError) << llvm::format("%.17g", tests.maxError);
  sections.push_back({SectionKind::Test, kMaxError.str(), maxError});
  sections.push_back({SectionKind::Test, kVerbose.str(), tests.verbose ? "1" : "0"});
  for (auto [number, each] : llvm::enumerate(tests.cases))
    for (auto [kind, arrays] : {std::pair(kInput, &each.inputs), std::pair(kOutput, &each.expected)})
      for (const auto &[name, bytes] : *arrays)
        sections.push_back({SectionKind::Test, (llvm::Twine(number) + "/" + kind + "/" + name).str(), bytes});
  return writeContainer(path, sections, written);
}

/// Adds one section to `tests`; false when it is none of them.
static bool add(llvm::StringRef name, llvm::StringRef bytes, TestCases &tests) {
  if (name == kMaxError)
    return !bytes.getAsDouble(tests.maxError) && tests.maxError >= 0;
  if (name == kVerbose) {
    tests.verbose = bytes == "1";
    return bytes == "0" || bytes == "1";
  }
  auto [number, rest] = name.split('/');
  auto [kind, array] = rest.split('/');
  unsigned index = 0;
  if (number.getAsInteger(10, index) || index >= kMaxCases || array.empty() || (kind != kInput && kind != kOutput))
    return false;
  if (tests.cases.size() <= index)
    tests.cases.resize(index + 1);
  TestCase::Arrays &arrays = kind == kInput ? tests.cases[index].inputs : tests.cases[index].expected;
  arrays.emplace_back(array.str(), bytes.str());
  return true;
}

llvm::Expected<TestCases> readTests(const Container &file) {
  TestCases tests;
  for (const Container::Section &section : file.sections()) {
    if (section.kind != SectionKind::Test)
      continue;
    llvm::Expected<llvm::StringRef> bytes = file.read(section.kind, section.name);
    if (!bytes)
      return bytes.takeError();
    if (!add(section.name, *bytes, tests))
      return makeError(ErrorCode::DataLoss, file.path() + ": a section must be of a test, got '" + section.name + "'");
  }
  return tests;
}

} // namespace tess::runtime
