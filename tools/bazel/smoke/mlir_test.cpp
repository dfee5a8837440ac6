#include <catch2/catch.hpp>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

TEST_CASE("MLIR links statically and verifies a module") {
  mlir::MLIRContext context;
  mlir::OpBuilder builder(&context);
  auto module = mlir::ModuleOp::create(builder, builder.getUnknownLoc());
  REQUIRE(mlir::succeeded(mlir::verify(module)));
  module.erase();
}
