#include "ops/custom/CustomOp.h"
#include "runtime/device/Device.h"
#include "runtime/device/KernelTable.h"
#include "tests/runtime/Expect.h"

#include <fstream>
#include <set>

using namespace tess;
using namespace tess::runtime;

namespace {

/// Names in backquotes of the README's paragraph that starts with `**<title>**`.
std::set<std::string> listed(const std::string &title) {
  std::ifstream readme("runtime/README.md");
  REQUIRE(readme);
  std::set<std::string> names;
  bool isListed = false;
  for (std::string line; std::getline(readme, line);) {
    isListed = line.rfind("**" + title + "**", 0) == 0 || (isListed && !line.empty());
    if (!isListed)
      continue;
    for (size_t at = line.find('`'); at != std::string::npos; at = line.find('`', line.find('`', at + 1) + 1))
      names.insert(line.substr(at + 1, line.find('`', at + 1) - at - 1));
  }
  return names;
}

std::set<std::string> inTable(KernelKind kind) {
  std::set<std::string> names;
  for (const KernelDef &def : hostDevice().kernels())
    if (def.kind == kind)
      names.insert(def.name);
  return names;
}

} // namespace

TEST_CASE("the table is the README's list, at most 14 sequential kernels") {
  CHECK(inTable(KernelKind::Contraction) == listed("Contractions"));
  CHECK(inTable(KernelKind::Library) == listed("Library kernels"));
  CHECK(inTable(KernelKind::Sequential) == listed("Sequential kernels"));
  CHECK(inTable(KernelKind::Sequential).size() <= 14);
}

TEST_CASE("every operator that names a kernel has one, and every kernel its operator") {
  std::set<std::string> wanted{custom::kKernelName}; // operators that a user brings share one
  for (const OpInfo &info : allOps())
    if (info.kernel)
      wanted.insert(info.kernel);
  std::set<std::string> have;
  for (const KernelDef &def : hostDevice().kernels())
    have.insert(def.name);
  CHECK(wanted == have);
}
