//===- kernel_image_test.cpp - images, their checks, their text -----------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/target/ImageBuilder.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <catch2/catch.hpp>
#include <thread>

namespace tess::test {

namespace {

KernelSpec addSpec() {
  SpecBuilder s;
  int a = s.input(DType::Float32), b = s.input(DType::Float32);
  s.output(s.apply(ScalarFn::Add, DType::Float32, {a, b}), DType::Float32);
  return s.spec;
}

template <typename T> std::string errorOf(llvm::Expected<T> result) {
  REQUIRE_FALSE(bool(result));
  return takeError(result.takeError()).second;
}

/// What LLVM makes of IR text, as kernels are made.
std::string objectOf(const char *text) {
  generatorFor("x86-64-v3"); // registers the target
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  REQUIRE(module);
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, reason);
  REQUIRE(target);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(triple);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  REQUIRE_FALSE(machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return {object.begin(), object.end()};
}

std::string errorOf(llvm::Error error) {
  REQUIRE(bool(error));
  return takeError(std::move(error)).second;
}

} // namespace

TEST_CASE("several kernels share an image") {
  SpecBuilder soft(1, 1, VectorAxis::Reduced);
  int x = soft.input(DType::Float32, InnerClass::Contiguous, true);
  soft.output(soft.reduce(ReduceKind::Max, DType::Float32, x), DType::Float32, InnerClass::Broadcast);
  auto image = generatorFor("host").compile({{"add", addSpec()}, {"row_max", soft.spec}});
  REQUIRE(bool(image));
  CHECK(image->entries.size() == 2);
  CHECK(image->entries[1].name == "row_max");
  auto code = runtime::CodeImage::map(*image);
  REQUIRE(bool(code));
  std::vector<float> a = {1, 5, 2}, b = {3, 4, 9}, out(3);
  void *add[] = {a.data(), b.data(), out.data()};
  int64_t addDims[] = {3, 1, 1, 1};
  (*code)->entry(0)(add, addDims, nullptr, 0, 1, 0, 3);
  CHECK(out == std::vector<float>{4, 9, 11});
  void *max[] = {a.data(), out.data()};
  int64_t maxDims[] = {1, 3, 3, 1, 1, 0};
  (*code)->entry(1)(max, maxDims, nullptr, 0, 1, 0, 0);
  CHECK(out[0] == 5);
}

TEST_CASE("kernels of an image need distinct names") {
  CHECK(errorOf(generatorFor("host").compile({{"k", addSpec()}, {"k", addSpec()}})) ==
        "codegen: kernels of an image must have distinct names, got k twice");
}

TEST_CASE("a test makes kernels with MLIR's verifier") {
  auto generator = CodeGenerator::create(*TargetSpec::parse("host"));
  REQUIRE(bool(generator));
  REQUIRE(bool((*generator)->compile({{"k", addSpec()}})));
  CHECK((*generator)->numVerified() == 1);
  (*generator)->setVerify(false);
  REQUIRE(bool((*generator)->compile({{"k", addSpec()}})));
  CHECK((*generator)->numVerified() == 1);
}

TEST_CASE("compilation is a function of the spec") {
  auto first = generatorFor("x86-64-v3").compile({{"k", addSpec()}});
  auto generator = CodeGenerator::create(*TargetSpec::parse("x86-64-v3"));
  REQUIRE((bool(first) && bool(generator)));
  auto second = (*generator)->compile({{"k", addSpec()}});
  REQUIRE(bool(second));
  CHECK(first->bytes == second->bytes);
  CHECK(first->hash == second->hash);
}

TEST_CASE("a generator that made many kernels makes them as a new one does") {
  auto old = CodeGenerator::create(*TargetSpec::parse("x86-64-v3"));
  REQUIRE(bool(old));
  std::string first;
  for (int i = 0; i < 150; ++i) { // its passes serve 64 modules
    auto image = (*old)->compile({{"k", addSpec()}});
    REQUIRE(bool(image));
    first = first.empty() ? image->hash : first;
    CHECK(image->hash == first);
    CHECK_FALSE(errorOf((*old)->compile({{"k", addSpec()}, {"k", addSpec()}})).empty()); // a refusal leaves it usable
  }
}

TEST_CASE("generators work side by side on threads") {
  std::vector<std::string> hashes(4);
  std::vector<std::thread> threads;
  for (std::string &hash : hashes)
    threads.emplace_back([&hash] {
      auto generator = CodeGenerator::create(*TargetSpec::parse("host"));
      for (int i = 0; i < 5; ++i)
        hash = (*generator)->compile({{"k", addSpec()}})->hash;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &hash : hashes)
    CHECK((hash == hashes[0] && hash.size() == 32));
}

TEST_CASE("an image is checked before it is mapped") {
  Kernel kernel(addSpec());
  SECTION("hash") {
    kernel.image.bytes[3] ^= 1;
    CHECK(errorOf(runtime::CodeImage::map(kernel.image)).find("code image: hash must be " + kernel.image.hash) == 0);
  }
  SECTION("entry") {
    kernel.image.entries[0].offset = kernel.image.bytes.size();
    CHECK(errorOf(runtime::CodeImage::map(kernel.image))
              .find("code image: entries must lie in the code, got kernel at") == 0);
  }
  SECTION("interface") {
    kernel.image.abi = runtime::kKernelAbi + 1;
    CHECK(errorOf(runtime::CodeImage::map(kernel.image)) ==
          "code image: kernels must have the interface of version 1 to 2, got 3");
  }
  SECTION("features") {
    kernel.image.features += ",+avx1024";
    CHECK(errorOf(runtime::CodeImage::map(kernel.image)) ==
          "code image: the machine must have what the code needs, got one without avx1024");
  }
}

TEST_CASE("the runtime and the compiler see the same features") {
  auto host = TargetSpec::parse("host");
  REQUIRE(bool(host));
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(host->features).split(features, ',');
  for (llvm::StringRef feature : features) {
    INFO(feature.str());
    CHECK(runtime::hostHasFeature(feature.drop_front()));
  }
  CHECK(runtime::hostHasFeature("avx512f") == host->has("avx512f"));
}

TEST_CASE("targets are named") {
  CHECK(TargetSpec::parse("x86-64-v4")->has("avx512bw"));
  CHECK_FALSE(TargetSpec::parse("x86-64-v3")->has("avx512bw"));
  CHECK(TargetSpec::parse("x86-64-v3")->levelName() == "x86-64-v3");
  CHECK(errorOf(TargetSpec::parse("z80")) ==
        "target: name must be host, x86-64-v3, x86-64-v4, sim or sm_<number>, got z80");
}

TEST_CASE("an image needs nothing outside itself") {
  std::string call = objectOf("declare void @sinf()\ndefine void @k() {\n call void @sinf()\n ret void\n}\n");
  CHECK(errorOf(buildImage(call, {{"k", 0, 0}}, "")) ==
        "codegen: a kernel must need nothing outside its image, got symbol sinf");
  std::string data = objectOf("@g = global i32 1\ndefine void @k() {\n store i32 2, ptr @g\n ret void\n}\n");
  CHECK(errorOf(buildImage(data, {{"k", 0, 0}}, "")).find("codegen: a kernel must have no writable data") == 0);
  std::string fine = objectOf("define void @k() {\n ret void\n}\n");
  CHECK(errorOf(buildImage(fine, {{"other", 0, 0}}, "")) ==
        "codegen: every kernel must be in the object, got none named other");
  CHECK(bool(buildImage(fine, {{"k", 0, 0}}, "")));
}

TEST_CASE("what is no object is an error") { CHECK_FALSE(errorOf(buildImage("not an object", {}, "")).empty()); }

TEST_CASE("the text of a spec is canonical") {
  CHECK(addSpec().toText() == "kernel parallel=1 reduced=0 lanes=parallel attrs=0\n"
                              "o0 = input f32 contiguous\n"
                              "o1 = input f32 contiguous\n"
                              "o2 = output f32 contiguous\n"
                              "n0 = load o0 : f32\n"
                              "n1 = load o1 : f32\n"
                              "n2 = add n0 n1 : f32\n"
                              "store n2 o2\n");
  KernelSpec other = addSpec();
  other.nodes[2].roundsHere = true;
  CHECK(other.toText() != addSpec().toText());
}

TEST_CASE("specs that mean nothing are refused") {
  KernelSpec spec = addSpec();
  SECTION("argument") {
    spec.nodes[2].args[1] = 2;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: arguments must be earlier nodes, got n2 in node 2");
  }
  SECTION("arity") {
    spec.nodes[2].args.pop_back();
    CHECK(errorOf(verifyKernel(spec)) ==
          "kernel: a function must have its number of arguments, got node 2 (add) with 1");
  }
  SECTION("load of an output") {
    spec.nodes[1].operand = 2;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: a load must name an input, got o2 in node 1");
  }
  SECTION("type of a load") {
    spec.operands[0].dtype = DType::Int8;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: a load must have its operand's type, got f32 in node 0");
  }
  SECTION("float function of integers") {
    spec.nodes[2].fn = ScalarFn::Atan2;
    spec.nodes[2].dtype = DType::Int32;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: a float function must have a float type, got node 2 (atan2) i32");
  }
  SECTION("reduction without a group") {
    spec.nodes[2].kind = NodeKind::Reduce;
    CHECK(errorOf(verifyKernel(spec)).find("kernel: a reduction must have one argument and a reduced group") == 0);
  }
  SECTION("broadcast output") {
    spec.operands[2].inner = InnerClass::Broadcast;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: an output must have an element for every lane, got broadcast o2");
  }
  SECTION("repeated output, or beside a reduction or a stride") {
    const std::string must =
        "kernel: a repeated operand must be an input of a kernel without reduced groups and strided operands, got ";
    spec.operands[2].inner = InnerClass::Repeated;
    CHECK(errorOf(verifyKernel(spec)) == must + "an output");
    std::swap(spec.operands[2].inner, spec.operands[0].inner);
    CHECK_FALSE(bool(verifyKernel(spec)));
    spec.operands[1].inner = InnerClass::Strided;
    CHECK(errorOf(verifyKernel(spec)) == must + "a strided one");
    spec.numReduced = 1;
    CHECK(errorOf(verifyKernel(spec)) == must + "a reduced group");
  }
  SECTION("no store") {
    spec.stores.clear();
    CHECK(errorOf(verifyKernel(spec)) == "kernel: a kernel must store something, got no store");
  }
  SECTION("attribute") {
    spec.nodes[1].kind = NodeKind::Attr;
    spec.nodes[1].slot = 0;
    CHECK(errorOf(verifyKernel(spec)) == "kernel: an attribute must be below numAttrs, got 0 in node 1");
  }
}

} // namespace tess::test
