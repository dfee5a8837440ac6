//===- kernel_lookup_test.cpp - elements at indices, read and added to ----===//
//
// On every target, whole or in pieces: what a plain walk over the domain gives.
//
//===----------------------------------------------------------------------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::test;
using runtime::BoundNumber;
using runtime::LookupReport;

namespace {

/// A kernel whose operand 0 has the values, whose others but the last are indices, and whose last is the result.
struct Lookup {
  std::string text;
  std::vector<int64_t> sizes;                // of the groups
  std::vector<std::vector<int64_t>> strides; // by operand
  std::vector<int64_t> axisSizes, axisStrides;
  int64_t numElements; // of what the indices count in
};

const std::string kGather = "kernel parallel=", kAdd = " order=sequential attrs=0\n";

std::string oneIndex(llvm::StringRef header, llvm::StringRef x, llvm::StringRef index, llvm::StringRef dtype) {
  return (header + "o0 = input f32 " + x + "\no1 = input " + dtype + " " + index +
          "\no2 = output f32 contiguous\nn0 = load o1 : " + dtype + "\nn1 = lookup o0 0 n0 : f32\nstore n1 o2\n")
      .str();
}

std::string oneWrite(llvm::StringRef header, llvm::StringRef value, llvm::StringRef index, llvm::StringRef out,
                     llvm::StringRef fn) {
  return (header + kAdd + "o0 = input f32 " + value + " varies\no1 = input i64 " + index + " varies\no2 = output f32 " +
          out + " varies\nn0 = load o0 : f32\nn1 = load o1 : i64\nstore n0 o2" + fn + " at 0 n1\n")
      .str();
}

std::vector<Lookup> lookups() {
  const std::string row = "kernel parallel=1 reduced=0 lanes=parallel attrs=0\n";
  const std::string rows = "kernel parallel=2 reduced=0 lanes=parallel attrs=0\n";
  std::vector<Lookup> all;
  for (int64_t n : {1, 5, 16, 37}) {
    all.push_back({oneIndex(row, "broadcast", "contiguous", "i32"), {n}, {{0}, {1}, {1}}, {9}, {1}, 9});
    // Rows of a table: the index is one for all lanes.
    all.push_back(
        {oneIndex(rows, "contiguous", "broadcast", "i64"), {7, n}, {{0, 1}, {1, 0}, {n, 1}}, {5}, {n}, 5 * n});
    // An index for each element, beside columns that stay.
    all.push_back(
        {oneIndex(rows, "contiguous", "contiguous", "i32"), {7, n}, {{0, 1}, {n, 1}, {n, 1}}, {5}, {n}, 5 * n});
    all.push_back({oneIndex(rows, "strided", "contiguous", "i32"), {3, n}, {{0, 4}, {n, 1}, {n, 1}}, {4}, {1}, 4 * n});
    all.push_back({rows + "o0 = input f32 broadcast\no1 = input i32 broadcast\no2 = input i64 contiguous\n"
                          "o3 = output f32 contiguous\nn0 = load o1 : i32\nn1 = load o2 : i64\n"
                          "n2 = lookup o0 0 n0 n1 : f32\nn3 = add n2 n2 : f32\nn4 = sub n3 n2 : f32\nstore n4 o3\n",
                   {4, n},
                   {{0, 0}, {1, 0}, {0, 1}, {n, 1}},
                   {3, 6},
                   {6, 1},
                   18});
  }
  return all;
}

std::vector<Lookup> writes(llvm::StringRef fn) {
  std::vector<Lookup> all;
  for (int64_t n : {1, 5, 16, 37}) {
    const std::string columns = "kernel parallel=1 reduced=1 lanes=parallel";
    const std::string row = "kernel parallel=1 reduced=1 lanes=reduced";
    all.push_back({oneWrite(columns, "contiguous", "broadcast", "contiguous", fn),
                   {n, 40},
                   {{1, n}, {0, 1}, {1, 0}},
                   {5},
                   {n},
                   5 * n});
    all.push_back({oneWrite(columns, "contiguous", "contiguous", "contiguous", fn),
                   {n, 11},
                   {{1, n}, {1, n}, {1, 0}},
                   {5},
                   {n},
                   5 * n});
    all.push_back({oneWrite(columns, "contiguous", "contiguous", "strided", fn),
                   {n, 6},
                   {{1, n}, {1, n}, {3, 0}},
                   {3},
                   {1},
                   3 * n});
    all.push_back(
        {oneWrite(row, "contiguous", "contiguous", "broadcast", fn), {3, n}, {{n, 1}, {n, 1}, {4, 0}}, {4}, {1}, 12});
  }
  return all;
}

std::vector<Lookup> writes() {
  std::vector<Lookup> all;
  for (const char *fn : {"", " add", " max", " min"})
    llvm::append_range(all, writes(fn));
  return all;
}

/// The numbers of a call: operand 0, the indices, the result, and the report behind them.
class Call {
public:
  Call(const Lookup &lookup, KernelSpec made) : lookup(lookup), spec(std::move(made)) {
    Random random(uint64_t(lookup.sizes.back()));
    total = 1;
    for (int64_t size : lookup.sizes)
      total *= size;
    taken.resize(size_t(spec.scatters() ? total : lookup.numElements));
    given.resize(size_t(spec.scatters() ? lookup.numElements : total));
    for (std::vector<float> *list : {&taken, &given})
      for (float &value : *list)
        value = float(random.uniform(-2, 2));
    for (size_t number = 0; number < lookup.axisSizes.size(); ++number) {
      bool isWide = spec.operands[number + 1].dtype == DType::Int64;
      std::vector<int64_t> &list = indices.emplace_back(size_t(total));
      for (int64_t &index : list)
        index = random.below(2 * lookup.axisSizes[number]) - lookup.axisSizes[number];
      widths.push_back(isWide ? 8 : 4);
    }
  }

  /// The result of a plain walk.
  std::vector<float> expected() const {
    std::vector<float> result = given;
    for (int64_t element = 0; element < total; ++element) {
      std::vector<int64_t> at = offsets(element);
      int64_t place = 0;
      for (size_t number = 0; number < indices.size(); ++number) {
        int64_t index = indices[number][size_t(at[number + 1])];
        place += (index < 0 ? index + lookup.axisSizes[number] : index) * lookup.axisStrides[number];
      }
      if (spec.scatters())
        write(result[size_t(at.back() + place)], taken[size_t(at[0])]);
      else
        result[size_t(at.back())] = taken[size_t(at[0] + place)];
    }
    return result;
  }

  LookupReport run(llvm::StringRef target, int64_t pieces, std::vector<float> &result) const {
    Kernel kernel(spec, target);
    result = given;
    LookupReport report;
    std::vector<std::vector<char>> bytes;
    std::vector<void *> pointers = {const_cast<float *>(taken.data())};
    for (auto [list, width] : llvm::zip_equal(indices, widths)) {
      std::vector<char> &own = bytes.emplace_back(list.size() * width);
      for (size_t i = 0; i < list.size(); ++i)
        std::memcpy(own.data() + i * width, &list[i], width); // the low bytes come first
      pointers.push_back(own.data());
    }
    pointers.push_back(result.data());
    pointers.push_back(&report);
    std::vector<int64_t> dims = numbers();
    if (kernel.image.kind == runtime::ImageKind::Grid) {
      kernel.runGrid({pointers, dims}, parallel());
      return report;
    }
    auto code = runtime::CodeImage::map(kernel.image, kernel.image.kind);
    REQUIRE(bool(code));
    bool hasLanes = spec.vectorAxis == VectorAxis::Parallel;
    int64_t inner = hasLanes ? lookup.sizes[spec.numParallel - 1] : 0, outer = parallel() / (hasLanes ? inner : 1);
    for (int64_t piece = 0; piece < pieces; ++piece)
      (*code)->entry(0)(pointers.data(), dims.data(), nullptr, outer * piece / pieces, outer * (piece + 1) / pieces, 0,
                        inner);
    return report;
  }

  std::vector<std::vector<int64_t>> indices;

private:
  void write(float &element, float value) const {
    std::optional<ScalarFn> fn = spec.stores[0].fn;
    if (!fn)
      element = value;
    else if (fn == ScalarFn::Add)
      element += value;
    else
      element = fn == ScalarFn::Max ? std::max(element, value) : std::min(element, value);
  }

  int64_t parallel() const {
    int64_t count = 1;
    for (unsigned group = 0; group < spec.numParallel; ++group)
      count *= lookup.sizes[group];
    return count;
  }

  /// Where each operand has an element of the domain, which goes in row-major order.
  std::vector<int64_t> offsets(int64_t element) const {
    std::vector<int64_t> at(lookup.strides.size());
    for (size_t group = lookup.sizes.size(); group-- > 0; element /= lookup.sizes[group])
      for (size_t operand = 0; operand < at.size(); ++operand)
        at[operand] += element % lookup.sizes[group] * lookup.strides[operand][group];
    return at;
  }

  std::vector<int64_t> numbers() const {
    runtime::KernelDims places = spec.dims();
    std::vector<int64_t> dims(places.count(0));
    for (unsigned group = 0; group < lookup.sizes.size(); ++group) {
      dims[places.size(group)] = lookup.sizes[group];
      for (unsigned operand = 0; operand < lookup.strides.size(); ++operand)
        dims[places.stride(operand, group)] = lookup.strides[operand][group];
    }
    for (unsigned number = 0; number < lookup.axisSizes.size(); ++number) {
      dims[places.bound(number, BoundNumber::Stride)] = lookup.axisStrides[number];
      dims[places.bound(number, BoundNumber::Extent)] = lookup.axisSizes[number];
    }
    return dims;
  }

  const Lookup &lookup;
  KernelSpec spec;
  int64_t total;
  std::vector<float> taken, given; // operand 0, and what the result begins with
  std::vector<size_t> widths;      // of an index
};

KernelSpec specOf(llvm::StringRef text) {
  llvm::Expected<KernelSpec> spec = KernelSpec::parse(text);
  if (!spec)
    FAIL(takeError(spec.takeError()).second << "\n" << text.str());
  CHECK(takeError(verifyKernel(*spec)).second == "");
  return std::move(*spec);
}

void check(const Lookup &lookup) {
  INFO(lookup.text);
  Call call(lookup, specOf(lookup.text));
  std::vector<float> expected = call.expected(), got;
  for (const std::string &target : targetsHere())
    for (int64_t pieces : {1, 3}) {
      CHECK(call.run(target, pieces, got).lookup == 0);
      CHECK(sameBits(got, expected));
    }
}

} // namespace

TEST_CASE("kernels read elements at indices") {
  for (const Lookup &lookup : lookups())
    check(lookup);
}

TEST_CASE("kernels add at indices, in the order of the domain") {
  for (const Lookup &lookup : writes())
    check(lookup);
}

TEST_CASE("a wrong index is reported, with its lookup and its lane") {
  for (const std::vector<Lookup> &list : {lookups(), writes()})
    for (const Lookup &lookup : list) {
      INFO(lookup.text);
      Call call(lookup, specOf(lookup.text));
      size_t number = call.indices.size() - 1;
      call.indices[number][0] = lookup.axisSizes[number];
      for (const std::string &target : targetsHere()) {
        std::vector<float> got;
        LookupReport report = call.run(target, 1, got);
        CHECK(report.lookup == int64_t(number) + 1);
        CHECK(report.isWrong[0] != 0);
        CHECK(report.indices[0] == lookup.axisSizes[number]);
      }
    }
}

TEST_CASE("what counts by indices without a meaning is refused") {
  const std::string head = "kernel parallel=1 reduced=0 lanes=parallel attrs=0\n";
  const std::string operands = "o0 = input f32 broadcast\no1 = input i32 contiguous\no2 = output f32 contiguous\n";
  const std::string index = "n0 = load o1 : i32\n";
  CHECK(refusalOf(head + operands + index + "n1 = lookup o0 0 n0 : f32\nstore n1 o2\n") == "");
  CHECK(refusalOf(head + operands + index + "n1 = lookup o2 0 n0 : f32\nstore n1 o2\n") ==
        "kernel: a lookup must name an input of its type, not a repeated one, got node 1");
  CHECK(refusalOf(head + operands + index + "n1 = load o0 : f32\nn2 = lookup o0 0 n0 : f32\nstore n2 o2\n") ==
        "kernel: an operand that is looked up must not be loaded, got node 2");
  CHECK(refusalOf(head + operands + index + "n1 = lookup o0 1 n0 : f32\nstore n1 o2\n") ==
        "kernel: lookups must be numbered in order, got node 1 slot 1");
  CHECK(refusalOf(head + operands + "n0 = const 1 : f32\nn1 = lookup o0 0 n0 : f32\nstore n1 o2\n") ==
        "kernel: indices must be integers, got node 1");
  CHECK(refusalOf("kernel parallel=1 reduced=1 lanes=parallel attrs=0\n" + operands + index +
                  "n1 = lookup o0 0 n0 : f32\nstore n1 o2\n") ==
        "kernel: a kernel that looks elements up must not reduce, got node 1");
  CHECK(refusalOf(head + operands + index + "n1 = cast n0 : f32\nstore n1 o2 at 0 n0\n") ==
        "kernel: what writes at indices must be a sequential kernel that does nothing else in order, got another");
  const std::string ordered = "kernel parallel=1 reduced=0 lanes=parallel order=sequential attrs=0\n";
  CHECK(refusalOf(ordered + operands + index + "n1 = cast n0 : f32\nstore n1 o2 add at 0 n0\n") == "");
  CHECK(refusalOf(ordered + operands + index + "n1 = cast n0 : f32\nstore n1 o2 mul at 0 n0\n") ==
        "kernel: what is joined with the element there must be added, or the maximum or minimum of numbers, got mul");
  CHECK(refusalOf(ordered + operands + index + "n1 = cast n0 : f32\nstore n1 o2 add\n") ==
        "kernel: a function must join elements at indices, got o2");
}
