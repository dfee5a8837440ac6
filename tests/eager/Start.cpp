//===- Start.cpp - fills the stack before the first test -----------------===//
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "eager/Eager.h"

#include <catch2/catch.hpp>

namespace {

struct StartEager : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo &) override { tess::eager::start(); }
};

} // namespace

CATCH_REGISTER_LISTENER(StartEager)
