//===- Container.h - the `.tess` file ---------------------------*- C++ -*-===//
//
// Magic, version, 64-byte aligned sections, a checksummed section table. Read
// by mmap; what a section means is not known here. Layout (little endian):
//
//   0   magic "\x89TESSERA"       8   u32 version      12  u32 number of sections
//   16  u64 offset of the table   24  u64 bytes of it  32  u64 its XXH3-64
//   40  u64 bytes of the file     48  u64 reserved, 0  56  u64 XXH3-64 of bytes 0..56
//   table, per section: u32 kind, u32 bytes of the name, u64 offset, u64 size, u64 XXH3-64, name, zeros to 8 bytes
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/MappedFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace tess::runtime {

/// Version of the container that this build writes, and the highest that it reads.
constexpr uint32_t kContainerVersion = 1;

/// Values are part of the file format. A reader keeps, and ignores, kinds that it does not know.
enum class SectionKind : uint32_t {
  Graph = 1,          // bytes for ir/; the name is empty
  Executable = 2,     // named by target
  Tensor = 3,         // raw row-major data, named by parameter
  Meta = 4,           // text by key
  Code = 5,           // a code image, named by its hash
  FlatExecutable = 6, // of the build that the file names, named by class
  Test = 7,           // what tests the program (TestCases.h)
};

/// One section to write. The bytes are not copied.
struct SectionData {
  SectionKind kind;
  std::string name;
  llvm::StringRef bytes;
};

/// What a file is, once it is written.
struct WrittenFile {
  uint64_t bytes = 0;
  uint64_t hash = 0; // of the section table, which has a checksum of each section
};

/// Writes a file: a temporary one beside it, fsync, rename, fsync of the folder (AtomicFile.h). When it fails (IoError
/// with the path and the system's reason), an old file of that name is as before and the temporary file is gone. A
/// process that is killed leaves it behind; the next write of the same path takes it over.
llvm::Error writeContainer(llvm::StringRef path, llvm::ArrayRef<SectionData> sections, WrittenFile *written = nullptr);

/// An opened file. Thread-safe. Another file may take its name meanwhile (rename), but its own bytes must stay: reading
/// a page that it no longer has raises SIGBUS (MappedFile.h), and of other bytes checkFile() tells.
class Container {
public:
  /// An entry of the table; `offset` and `size` in bytes of the file.
  struct Section {
    SectionKind kind;
    std::string name;
    uint64_t offset, size, checksum;
  };

  /// Maps the file. Verifies header, table, bounds, and the checksums of everything but tensors; of tensors too when
  /// there are at most `kVerifyAtLoad` bytes of them or `verifyAll` is set.
  static llvm::Expected<std::shared_ptr<Container>> open(llvm::StringRef path, bool verifyAll = false);
  /// Opens `bytes`, which must live as long as the container; `name` stands for the path in messages.
  static llvm::Expected<std::shared_ptr<Container>> fromMemory(llvm::StringRef bytes, llvm::StringRef name,
                                                               bool verifyAll = false);
  Container(const Container &) = delete;
  Container &operator=(const Container &) = delete;

  static constexpr uint64_t kVerifyAtLoad = uint64_t(256) << 20;

  /// All sections in the order of the file, and the path for messages.
  llvm::ArrayRef<Section> sections() const { return table; }
  const std::string &path() const { return name; }
  /// The bytes of a section; a tensor that was not verified at load is verified on its first use. NotFound when absent.
  llvm::Expected<llvm::StringRef> read(SectionKind kind, llvm::StringRef name) const;
  /// True when there is such a section.
  bool has(SectionKind kind, llvm::StringRef name) const;
  /// Lets the code sections run where the file is mapped, as those of a shared library do; false when the system does
  /// not (a file system that is mounted noexec).
  bool makeCodeExecutable();
  /// Checks every tensor that was not checked yet.
  llvm::Error verify() const;
  /// Asks the system for the file's size and the time of its last write: DataLoss when it lost bytes since it was
  /// opened, or was written and no longer has its checksums. Bytes in memory stay.
  llvm::Error checkFile() const;
  /// Gives the memory of these bytes back to the system where they are of the file; who reads them again gets them from
  /// there.
  void giveBack(llvm::StringRef bytes) const {
    if (file)
      file->giveBack(bytes);
  }
  /// The cause of `error`, which reading the container gave: that the file was cut meanwhile, or else `error` itself.
  llvm::Error causeOf(llvm::Error error) const;
  /// True when zeros were read where the file had no bytes any more.
  bool isDamaged() const { return file && file->isDamaged(); }

private:
  Container(llvm::StringRef bytes, llvm::StringRef name, std::unique_ptr<MappedFile> file = nullptr)
      : file(std::move(file)), bytes(bytes), name(name) {}
  llvm::Error parse(bool verifyAll);
  llvm::Error parseHeader(uint64_t &tableOffset, uint64_t &tableBytes, uint32_t &count) const;
  llvm::Error parseTable(llvm::StringRef text, uint32_t count);
  llvm::Error checkBounds(const Section &section, uint64_t tableOffset);
  llvm::Error compareSum(size_t index) const;
  llvm::Error checkSum(size_t index) const;

  std::unique_ptr<MappedFile> file;
  llvm::StringRef bytes;
  std::string name;
  std::vector<Section> table;
  llvm::StringMap<size_t> indexByKey;
  mutable std::unique_ptr<std::atomic<bool>[]> verified;
};

} // namespace tess::runtime
