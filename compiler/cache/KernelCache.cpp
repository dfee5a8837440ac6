//===- KernelCache.cpp - images by what they compute ----------------------===//
#include "compiler/cache/KernelCache.h"
#include "compiler/cache/CacheState.h"
#include "compiler/cache/CodeVersion.h"
#include "compiler/target/Codegen.h"
#include "compiler/target/PtxGenerator.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/LruCache.h"
#include "runtime/schema/FlatExecutable.h"

#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <cstdlib>
#include <pthread.h>
#include <thread>

namespace tess::compiler {
namespace {

/// Limit of the images kept in memory. An image of one kernel has one to a few KiB.
constexpr uint64_t kMaxBytes = 64ull << 20;
/// Each code generator holds a context and a target machine (a few MB); two cover the compile threads of one program.
constexpr size_t kMaxIdleGenerators = 2;
constexpr unsigned kMaxCompileThreads = 4;

class ImageMemory {
public:
  std::optional<runtime::Image> find(llvm::StringRef key) {
    std::lock_guard<std::mutex> lock(mutex);
    const runtime::Image *image = images.find(key);
    return image ? std::optional(*image) : std::nullopt;
  }

  void store(llvm::StringRef key, const runtime::Image &image) {
    std::lock_guard<std::mutex> lock(mutex);
    images.insert(key.str(), image, image.bytes.size());
  }

private:
  std::mutex mutex;
  LruCache<runtime::Image> images{kMaxBytes};
};

/// The generator of a target: of machine code, or of PTX.
class Generator {
public:
  static llvm::Expected<std::unique_ptr<Generator>> create(const TargetSpec &target) {
    auto made = std::make_unique<Generator>();
    if (target.level != TargetLevel::Ptx) {
      if (llvm::Error error = CodeGenerator::create(target).moveInto(made->code))
        return std::move(error);
    } else if (llvm::Error error = PtxGenerator::create(target.architecture).moveInto(made->ptx)) {
      return std::move(error);
    }
    return made;
  }

  void setVerify(bool verify) {
    if (code)
      code->setVerify(verify);
  }
  llvm::Expected<runtime::Image> compile(llvm::ArrayRef<CodeGenerator::NamedKernel> kernels) {
    return code ? code->compile(kernels) : ptx->compileImage(kernels);
  }

private:
  std::unique_ptr<CodeGenerator> code;
  std::unique_ptr<PtxGenerator> ptx; // where there is no `code`
};

/// The generators that no thread is using, by target.
class GeneratorPool {
public:
  llvm::Expected<std::unique_ptr<Generator>> take(llvm::StringRef target) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto &idle = idleOf[target];
      if (!idle.empty()) {
        auto generator = std::move(idle.back());
        idle.pop_back();
        return generator;
      }
    }
    llvm::Expected<TargetSpec> spec = TargetSpec::parse(target);
    if (!spec)
      return spec.takeError();
    return Generator::create(*spec);
  }

  void giveBack(llvm::StringRef target, std::unique_ptr<Generator> generator) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &idle = idleOf[target];
    if (idle.size() < kMaxIdleGenerators)
      idle.push_back(std::move(generator));
  }

private:
  std::mutex mutex;
  llvm::StringMap<std::vector<std::unique_ptr<Generator>>> idleOf;
};

struct State {
  ImageMemory memory;
  GeneratorPool generators;
  std::atomic<uint64_t> compiled{0}, fromMemory{0}, fromDisk{0};
};

State &state() {
  static State *instance = new State; // never destroyed: compile threads may outlive statics
  return *instance;
}

/// Stores an image on disk as an executable without steps.
void storeOnDisk(llvm::StringRef key, const runtime::Image &image) {
  runtime::Executable holder;
  holder.images.push_back(image);
  keepExecutable(key, holder);
}

std::optional<runtime::Image> findOnDisk(llvm::StringRef key) {
  std::optional<runtime::Executable> holder = loadExecutable(key);
  return holder && holder->images.size() == 1 ? std::optional(std::move(holder->images[0])) : std::nullopt;
}

/// An image that no cache had.
struct Miss {
  const KernelUnit *unit;
  std::string key;
  runtime::Image *image;
  bool isPortable; // its code may outlive the process
};

llvm::Error compileOne(Generator &generator, Miss &miss) {
  std::vector<std::pair<std::string, KernelSpec>> named;
  for (const KernelSpec &spec : *miss.unit)
    named.emplace_back("kernel" + std::to_string(named.size()), spec);
  llvm::Expected<runtime::Image> image = generator.compile(named);
  if (!image)
    return image.takeError();
  *miss.image = std::move(*image);
  ++state().compiled;
  state().memory.store(miss.key, *miss.image);
  if (miss.isPortable)
    storeOnDisk(miss.key, *miss.image);
  return llvm::Error::success();
}

/// Compiles misses `next`, `next + 1`, ... until none is left.
llvm::Error compileShare(llvm::MutableArrayRef<Miss> misses, llvm::StringRef target, bool verify,
                         std::atomic<size_t> &next) {
  auto generator = state().generators.take(target);
  if (!generator)
    return generator.takeError();
  (*generator)->setVerify(verify);
  llvm::Error error = llvm::Error::success();
  for (size_t i = next++; i < misses.size() && !error; i = next++)
    error = compileOne(**generator, misses[i]);
  state().generators.giveBack(target, std::move(*generator));
  return error;
}

llvm::Error compileAll(llvm::MutableArrayRef<Miss> misses, llvm::StringRef target, bool verify) {
  std::atomic<size_t> next{0};
  unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
  size_t numThreads = std::min<size_t>({misses.size(), hardware, kMaxCompileThreads});
  std::vector<std::string> messages(numThreads);
  auto share = [&](size_t thread) { messages[thread] = llvm::toString(compileShare(misses, target, verify, next)); };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < numThreads; ++i)
    threads.emplace_back(share, i);
  share(0);
  for (std::thread &thread : threads)
    thread.join();
  for (std::string &message : messages)
    if (!message.empty())
      return makeError(ErrorCode::Internal, message);
  return llvm::Error::success();
}

} // namespace

/// Bytes that TESS_CACHE_MB says; a text that is no number counts as none.
static uint64_t limitOfEnvironment() {
  constexpr uint64_t byDefault = 1024;
  uint64_t mebibytes = byDefault;
  if (const char *text = std::getenv("TESS_CACHE_MB"); text && llvm::StringRef(text).getAsInteger(10, mebibytes))
    mebibytes = byDefault;
  return mebibytes << 20;
}

ObjectCache &objectCache() {
  static ObjectCache *instance = [] {
    (void)std::atexit([] { objectCache().awaitWritten(); });
    (void)::pthread_atfork([] { objectCache().beforeFork(); }, [] { objectCache().afterFork(/*isChild=*/false); },
                           [] { objectCache().afterFork(/*isChild=*/true); });
    auto *made = new ObjectCache;
    if (const char *folder = std::getenv("TESS_CACHE_DIR"))
      made->configure(folder, limitOfEnvironment());
    return made;
  }();
  return *instance;
}

std::optional<runtime::Executable> loadExecutable(llvm::StringRef key) {
  std::optional<std::string> bytes = objectCache().find(key);
  if (!bytes)
    return std::nullopt;
  return llvm::expectedToOptional(runtime::readFlat(*bytes, "disk cache"));
}

void keepExecutable(llvm::StringRef key, const runtime::Executable &executable) {
  if (!objectCache().settings().first.empty())
    objectCache().store(key, runtime::writeFlat(executable));
}

llvm::Expected<std::vector<runtime::Image>> imagesFor(llvm::ArrayRef<KernelUnit> units, llvm::StringRef target,
                                                      bool verify) {
  llvm::Expected<TargetSpec> resolved = TargetSpec::parse(target);
  if (!resolved)
    return resolved.takeError();
  std::vector<runtime::Image> images(units.size());
  std::vector<Miss> misses;
  bool isPortable = resolved->isPortable();
  for (auto [unit, image] : llvm::zip(units, images)) {
    std::string key = (codeVersion() + "\n" + resolved->keyPrefix() + resolved->features).str();
    for (const KernelSpec &spec : unit)
      key += "\n" + spec.toText();
    if (auto found = state().memory.find(key)) {
      image = std::move(*found);
      ++state().fromMemory;
    } else if (auto stored = isPortable ? findOnDisk(key) : std::nullopt) {
      image = std::move(*stored);
      state().memory.store(key, image);
      ++state().fromDisk;
    } else {
      misses.push_back({&unit, std::move(key), &image, isPortable});
    }
  }
  if (!misses.empty())
    if (llvm::Error error = compileAll(misses, target, verify))
      return std::move(error);
  return images;
}

KernelCacheStats kernelCacheStats() {
  return {state().compiled.load(), state().fromMemory.load(), state().fromDisk.load()};
}

} // namespace tess::compiler
