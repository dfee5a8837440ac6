//===- records_test.cpp - what a record must say -------------------------===//
#include "tests/ops/Samples.h"

#include "ops/inference/Notation.h"
#include "ops/table/Builtin.h"
#include "ops/table/Docs.h"

#include <cmath>
#include <set>

using namespace tess;
using namespace tess::test;

TEST_CASE("every record has samples, an oracle, a Python name and documented attributes") {
  CHECK(records().size() == allOps().size());
  for (const llvm::json::Value &value : records()) {
    const llvm::json::Object &record = *value.getAsObject();
    INFO(record.getString("name")->str());
    CHECK(!record.getArray("samples")->empty());
    CHECK(!record.getString("oracle")->empty());
    CHECK(!record.getObject("python")->getString("name")->empty());
    CHECK(!record.getObject("python")->getString("module")->empty());
    for (const AttrInfo &attr : findOp(*record.getString("name"))->attrs)
      CHECK(llvm::StringRef(attr.doc) != "");
  }
}

TEST_CASE("a summary is a noun phrase without a period") {
  for (const OpInfo &info : allOps()) {
    INFO(info.name);
    llvm::StringRef summary = info.summary;
    CHECK(!summary.empty());
    CHECK(!summary.ends_with("."));
    // "angle of ..." or "NaN ...", "1 at ...", "x where ...": no capitalised sentence; a person's name keeps its
    // capital.
    bool isCapitalised = summary[0] >= 'A' && summary[0] <= 'Z' && summary[1] >= 'a' && summary[1] <= 'z';
    CHECK((!isCapitalised || summary.starts_with("Fourier ")));
  }
}

TEST_CASE("names are used once") {
  std::set<std::string> names, opdefs, functions, labels;
  for (const OpInfo &info : allOps()) {
    INFO(info.name);
    CHECK(names.insert(info.name).second);
    CHECK(opdefs.insert(info.opdefName).second);
    CHECK(functions.insert(info.pythonName).second);
    for (const ConstraintInfo &constraint : info.constraints)
      CHECK(labels.insert(constraint.label).second);
  }
}

TEST_CASE("operators are found by both names") {
  for (const OpInfo &info : allOps()) {
    CHECK(findOp(info.name) == &info);
    CHECK(findOpDef(info.opdefName) == &info);
    CHECK(&info == &allOps()[info.id]);
  }
  CHECK(findOp("nothing") == nullptr);
  CHECK(findOpDef("Nothing") == nullptr);
}

TEST_CASE("three records in four have a signature, or index notation") {
  unsigned count = llvm::count_if(allOps(), [](const OpInfo &info) { return info.signature || info.notation; });
  INFO(count << " of " << allOps().size());
  CHECK(count * 4 >= allOps().size() * 3);
}

TEST_CASE("few kernels are sequential") {
  std::set<std::string> kernels;
  for (const OpInfo &info : allOps())
    if (info.lowering == Lowering::Sequential)
      kernels.insert(info.kernel);
  CHECK(kernels == std::set<std::string>{"argsort", "extent", "mask_get", "max_pool2d_backward", "nms", "non_zero",
                                         "searchsorted", "topk"});
}

TEST_CASE("a lowering has what it needs") {
  for (const OpInfo &info : allOps()) {
    INFO(info.name);
    CHECK((info.lowering == Lowering::Elementwise) == (info.scalar != nullptr));
    CHECK((info.lowering == Lowering::Composite) == (info.makeForward != nullptr));
    CHECK((info.lowering == Lowering::View) == (info.viewRule != nullptr));
    if (info.lowering == Lowering::Window)
      CHECK(info.notation->reads.front().places.back().isWindow);
    if (info.lowering == Lowering::Library || info.lowering == Lowering::Sequential)
      CHECK(info.kernel); // of others older files may call one
    if (info.scalar)
      CHECK(info.scalar->results.size() == info.results.size());
  }
}

TEST_CASE("scalar programs read earlier nodes only") {
  for (const OpInfo &info : allOps()) {
    if (!info.scalar)
      continue;
    INFO(info.name);
    for (unsigned i = 0; i < info.scalar->nodes.size(); ++i) {
      const ScalarNode &node = info.scalar->nodes[i];
      if (node.fn == ScalarFn::Operand)
        CHECK(unsigned(node.a) < info.operands.size());
      else if (node.fn == ScalarFn::Attr)
        CHECK(unsigned(node.a) < info.attrs.size());
      else if (infoOf(node.fn).arity)
        CHECK((node.a < int(i) && node.b < int(i) && node.c < int(i)));
    }
  }
}

TEST_CASE("sharding follows from the signature") {
  const OpInfo &matmul = *findOp("matmul");
  auto named = [&](llvm::ArrayRef<uint8_t> symbols) {
    std::string text;
    for (uint8_t s : symbols)
      text += matmul.signature->symbols[s];
    return text;
  };
  CHECK(named(matmul.sharding.splittable) == "BMN");
  CHECK(named(matmul.sharding.partial) == "K");
  CHECK(findOp("softmax")->sharding.splittable.empty());
  CHECK(findOp("add")->sharding.splittable.size() == 1);
}

TEST_CASE("docstrings tell formulas, shapes, attributes and labels") {
  std::string doc = docstringOf(*findOp("matmul"));
  CHECK(doc.find("`out[..., m, n] = sum_k x[..., m, k] * y[..., k, n]`") != std::string::npos);
  CHECK(doc.find("x: float or complex[*B, M, K] (with transpose_x: [*B, K, M])") != std::string::npos);
  CHECK(doc.find("transpose_x: bool = False, swap the last two axes of x first") != std::string::npos);
  CHECK(doc.find("ValueError: dimension K must match") != std::string::npos);
  CHECK(doc.find("Dtype of the result:\n    promoted") != std::string::npos);
  CHECK(doc.find("IR:\n    %0 = tess.matmul %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n") !=
        std::string::npos);
  CHECK(doc.find(">>> F.matmul(F.ones((2, 3)), F.ones((3, 4))).shape\n    (2, 4)\n") != std::string::npos);
  for (const OpInfo &info : allOps())
    CHECK(llvm::StringRef(docstringOf(info)).contains("Example:"));
}

TEST_CASE("generated classes are operators with typed attributes") {
  builtin::Softmax softmax(1);
  CHECK(softmax.getAxis() == 1);
  CHECK(softmax.toString() == "softmax(axis=1)");
  CHECK(builtin::Softmax::classof(softmax));
  builtin::Conv2d conv({2, 2}, {1, 1});
  CHECK(conv.getStrides() == IntList{2, 2});
  CHECK(conv.getGroups() == 1);
  CHECK(builtin::Cast(DType::Float16).getDtype() == DType::Float16);
  CHECK(builtin::CrossEntropy().getReduction() == "mean");
  CHECK(builtin::Clip().getUpper() == INFINITY);
  static_assert(sizeof(builtin::Conv2d) == sizeof(OpDef));
}
