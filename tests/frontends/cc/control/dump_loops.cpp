//===- dump_loops.cpp - loops traced, dumped and deployed ----------------===//
//
// dump_loops FOLDER: reads tensors from FOLDER/given, writes programs with loops
// there, and FOLDER/results: what they give by the runtime alone.
//
//===----------------------------------------------------------------------===//
#include "tessera/Control.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Serialization.h"
#include "tessera/deploy.h"
#include "tessera/functional.h"

#include <iostream>

using namespace tessera;

/// The best paths through steps of scores [steps, width, tokens]: their totals, and their tokens [width, steps].
static std::tuple<Tensor, Tensor> beamSearch(const Tensor &scores) {
  int64_t steps = scores.size(0), width = scores.size(1), tokens = scores.size(2);
  auto goesOn = [=](const Tensor &step, const Tensor &, const Tensor &) { return step < steps; };
  auto extend = [=](const Tensor &step, const Tensor &best, const Tensor &paths) {
    Tensor totals = best.reshape({width, 1}) + scores.index({step});
    std::vector<Tensor> top = functional::topk(totals.flatten(), width);
    Tensor kept = paths.index({functional::floor_div(top[1], tokens)});
    Tensor token = functional::mod(top[1], tokens).reshape({width, 1});
    Tensor isHere = functional::equal(arange(0, double(steps), 1, DType::Int32), step);
    return std::tuple(step + 1, top[0], functional::where(isHere, token, kept));
  };
  std::tuple first(tensor(int32_t(0)), zeros({width}), zeros({width, steps}, DType::Int32));
  auto [step, best, paths] = whileLoop(goesOn, extend, first);
  return {best, paths};
}

/// What the program in the file gives for a float32 input, by the runtime alone.
static std::vector<Tensor> deployed(const std::string &path, const Tensor &input) {
  deploy::Model model;
  deploy::Session session;
  auto check = [](const deploy::Status &status) {
    if (!status)
      throw Error(ErrorCode::Internal, status.message);
  };
  check(deploy::Model::load(path, model));
  check(model.bind({input.shape()}, session));
  std::vector<std::vector<char>> results;
  for (size_t i = 0; i < model.outputs().size(); ++i)
    results.emplace_back(session.outputBytes(i));
  std::vector<void *> outputs;
  for (std::vector<char> &result : results)
    outputs.push_back(result.data());
  std::vector<char> bytes = input.toBytes();
  const void *inputs[] = {bytes.data()};
  check(session.run(inputs, 1, outputs.data(), outputs.size()));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i)
    tensors.push_back(fromBytes(results[i].data(), DType(model.outputs()[i].dtype), session.outputShapes()[i]));
  return tensors;
}

/// Traces and dumps `function`, and runs the file on each input.
template <typename F>
static void keep(StateDict &results, const std::string &path, F function, const std::vector<Tensor> &inputs,
                 const jit::DumpOptions &options) {
  auto traced = jit::trace(function);
  (void)traced(inputs.front());
  traced.dump(path, options);
  std::string name = path.substr(path.rfind('/') + 1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t number = 0;
    for (const Tensor &result : deployed(path, inputs[i]))
      results[name + "/" + std::to_string(i) + "/" + std::to_string(number++)] = result;
  }
}

int main(int /*argc*/, char **argv) try {
  std::string folder = std::string(argv[1]) + "/";
  StateDict given = tessera::load(folder + "given"), results;
  keep(results, folder + "beam", beamSearch, {given["scores"]}, {.inputs = {"scores"}});
  LSTM net(3, 4, {.numLayers = 2, .bidirectional = true});
  net.loadStateDict({{"_flatten_weights", given["weights"]}});
  auto run = [&](const Tensor &x) {
    auto [output, state] = net(x);
    return std::tuple(output, state[0], state[1]);
  };
  keep(results, folder + "lstm", run, {given["short"], given["long"]},
       {.inputs = {"x"}, .dims = {{"x", {{0, {"steps"}}, {1, {"batch"}}}}}});
  auto size = [](const Tensor &x) {
    return cond(x.sum() > 0, [&] { return functional::sqrt(x.sum()); }, [&] { return -x.max(); });
  };
  keep(results, folder + "size", size, {given["above"], given["below"]}, {.inputs = {"x"}});
  save(results, folder + "results");
  return 0;
} catch (const Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
