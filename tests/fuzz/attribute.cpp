//===- attribute.cpp - any text as an operator and as an attribute --------===//
#include "ops/operator/OpDef.h"
#include "tests/fuzz/Fuzz.h"

using namespace tess;

static void readOperator(llvm::StringRef text) {
  auto op = OpDef::parse(text);
  if (!fuzz::passed(op))
    return;
  std::string written = op->serialize();
  auto again = OpDef::parse(written);
  fuzz::require(fuzz::passed(again) && again->serialize() == written && again->hash() == op->hash(),
                "an operator must survive its text: " + written);
}

static void readAttribute(AttrKind kind, llvm::StringRef text) {
  auto attr = AttrValue::parse(kind, text);
  if (!fuzz::passed(attr))
    return;
  auto again = AttrValue::parse(kind, attr->toText());
  fuzz::require(fuzz::passed(again) && *again == *attr && again->hash() == attr->hash(),
                "an attribute must survive its text: " + attr->toText());
}

void fuzzOne(llvm::StringRef input) {
  readOperator(input);
  for (unsigned kind = 0; kind <= unsigned(AttrKind::DType); ++kind)
    readAttribute(AttrKind(kind), input);
}
