//===- check.h - the tests in a .tess file ----------------------*- C++ -*-===//
#pragma once

#include "tessera/deploy.h"

#include <functional>
#include <string>

namespace tessera::deploy {

/// Runs the tests that the file of `model` keeps, in their order; state goes on from one to the next. InvalidArgument
/// for the first result that is further off than the file allows, NotFound for a file without tests. `report` gets a
/// line for each result where the file says so; it may be null.
Status checkTests(const Model &model, const std::function<void(const std::string &line)> &report = nullptr);

} // namespace tessera::deploy
