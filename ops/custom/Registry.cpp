//===- Registry.cpp - libraries of operators ------------------------------===//
//
// A library stays open to the end of the process: programs that call it may run at
// any time, and no counter of theirs is needed.
//
//===----------------------------------------------------------------------===//
#include "ops/custom/Registry.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

#include <cstddef>
#include <dlfcn.h>
#include <mutex>

namespace tess::custom {

namespace {

struct Libraries {
  std::mutex mutex;
  llvm::StringMap<std::vector<const Operator *>> byPath;
};

Libraries &libraries() {
  static Libraries *libraries = new Libraries; // never destroyed: rows live for ever
  return *libraries;
}

llvm::Error refused(ErrorCode code, llvm::StringRef path, const llvm::Twine &must, const llvm::Twine &got) {
  return makeError(code, "load_library: " + must + ", got " + got + (path.empty() ? "" : " from " + path.str()));
}

/// Size of the first TessLibrary, which libraries of this ABI have at least.
constexpr size_t kLeastSize = offsetof(TessLibrary, num_operators) + sizeof(uint32_t);

llvm::Expected<std::vector<const Operator *>> added(const TessLibrary &library, llvm::StringRef path) {
  if (library.abi != TESS_CUSTOM_ABI)
    return refused(ErrorCode::Unimplemented, path, "a library must be of ABI " + llvm::Twine(TESS_CUSTOM_ABI),
                   llvm::Twine(library.abi));
  if (library.size < kLeastSize || !library.name || !library.version)
    return refused(ErrorCode::InvalidArgument, path, "a library must have a name and a version", "none");
  const OpOrigin origin = {library.name, library.version, path.str()};
  std::vector<std::unique_ptr<Operator>> made;
  llvm::SmallVector<OpInfo *, 8> rows;
  for (const TessOperator *op : llvm::ArrayRef(library.operators, library.num_operators)) {
    llvm::Expected<std::unique_ptr<Operator>> one = Operator::make(*op, origin);
    if (!one)
      return one.takeError();
    rows.push_back(&(*one)->row(false));
    if ((*one)->backward())
      rows.push_back(&(*one)->row(true));
    made.push_back(std::move(*one));
  }
  if (llvm::Error error = addOps(rows))
    return std::move(error);
  std::vector<const Operator *> found;
  for (std::unique_ptr<Operator> &op : made)
    found.push_back(op.release());
  return found;
}

/// The function that a library at a path exports; it stays open.
llvm::Expected<TessLibraryFn> opened(llvm::StringRef path) {
  void *handle = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return refused(ErrorCode::NotFound, "", "a library must open", reason ? reason : path);
  }
  if (void *symbol = dlsym(handle, TESS_LIBRARY_SYMBOL))
    return reinterpret_cast<TessLibraryFn>(symbol);
  dlclose(handle);
  return refused(ErrorCode::NotFound, path, "a library must export " TESS_LIBRARY_SYMBOL, "none");
}

} // namespace

llvm::Expected<std::vector<const Operator *>> loadLibrary(llvm::StringRef path) {
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(path, real))
    return refused(ErrorCode::NotFound, "", "a library must be a file", "'" + path + "'");
  Libraries &all = libraries();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (auto found = all.byPath.find(real); found != all.byPath.end())
    return found->second;
  llvm::Expected<TessLibraryFn> library = opened(real);
  if (!library)
    return library.takeError();
  const TessLibrary *given = (*library)(TESS_CUSTOM_ABI);
  if (!given)
    return refused(ErrorCode::Unimplemented, real, "a library must serve ABI " + llvm::Twine(TESS_CUSTOM_ABI), "none");
  llvm::Expected<std::vector<const Operator *>> operators = added(*given, real);
  if (operators)
    all.byPath[real] = *operators;
  return operators;
}

llvm::Expected<std::vector<const Operator *>> addLibrary(const TessLibrary &library, llvm::StringRef path) {
  return added(library, path);
}

} // namespace tess::custom
