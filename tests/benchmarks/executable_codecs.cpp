// Reads every executable of a warm set from the bytes of both codecs, one JSON object: the number of executables, and
// the nanoseconds and bytes of one by each codec. tests/benchmarks/executable_codecs.py runs it.
#include "compiler/cache/WarmSet.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/FlatExecutable.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace tess;
using namespace tess::runtime;

namespace {

using Clock = std::chrono::steady_clock;
using Read = llvm::Expected<Executable> (*)(llvm::StringRef bytes);

llvm::ExitOnError exitOnError("executable_codecs: ");

/// One codec: what it wrote, and the times of reading all of it.
struct Codec {
  Read read;
  std::vector<std::string> written;
  std::vector<double> nanoseconds;

  void readAll() {
    Clock::time_point start = Clock::now();
    for (const std::string &bytes : written)
      exitOnError(read(bytes));
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  void print(const char *name, double count) {
    double bytes = 0;
    for (const std::string &each : written)
      bytes += double(each.size());
    auto middle = nanoseconds.begin() + ptrdiff_t(nanoseconds.size() / 2);
    std::nth_element(nanoseconds.begin(), middle, nanoseconds.end());
    std::printf(R"(, "%s": {"nanoseconds": %.0f, "bytes": %.0f})", name, *middle / count, bytes / count);
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "executable_codecs: arguments must be the file of a warm set, got %d\n", argc - 1);
    return 2;
  }
  auto set = exitOnError(compiler::WarmSet::read(argv[1]));
  Codec lasting{[](llvm::StringRef bytes) { return parseExecutable(bytes, "executable_codecs"); }, {}, {}};
  Codec flat{[](llvm::StringRef bytes) { return readFlat(bytes, "executable_codecs"); }, {}, {}};
  for (const std::string &key : set->keys())
    if (std::optional<Executable> executable = set->find(key)) {
      lasting.written.push_back(serializeExecutable(*executable));
      flat.written.push_back(writeFlat(*executable));
    }
  for (int round = 0; round < 15; ++round) {
    lasting.readAll();
    flat.readAll();
  }
  double count = double(flat.written.size());
  std::printf(R"({"executables": %.0f)", count);
  lasting.print("lasting", count);
  flat.print("flat", count);
  std::printf("}\n");
}
