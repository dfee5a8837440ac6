//===- run_cases.cpp - makes and runs what cases.py names -----------------===//
//
// run_cases GIVEN RESULTS: states, inputs and weights of the results from one
// file, what comes of them into another. Names of tensors are CASE/WHAT.
//
//===----------------------------------------------------------------------===//
#include "tessera/Autodiff.h"
#include "tessera/Averages.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/Schedules.h"
#include "tessera/Serialization.h"
#include "tessera/Translated.h"

#include <functional>
#include <iostream>

using namespace tessera;
using namespace tessera::translated;

namespace {

std::vector<Tensor> listOfResults(const Tensor &y) { return {y}; }
std::vector<Tensor> listOfResults(const States &ys) {
  return ys[1].isDefined() ? std::vector<Tensor>{ys[0], ys[1]} : std::vector<Tensor>{ys[0]};
}
std::vector<Tensor> listOfResults(const std::tuple<Tensor, States> &ys) {
  return {std::get<0>(ys), std::get<1>(ys)[0], std::get<1>(ys)[1]};
}

/// What a module makes of its inputs; an LSTM's state is a pair.
template <typename Net, typename... Inputs> auto called(Net &net, const Tensor &x, const Inputs &...more) {
  if constexpr (std::is_invocable_v<Net &, const Tensor &, const Inputs &...>)
    return net(x, more...);
  else
    return net(x, States{more...});
}

/// One run of all cases.
class Run {
public:
  explicit Run(StateDict given) : given(std::move(given)) {}

  template <size_t N, typename Make> void module(const std::string &name, Make make) {
    seed(5);
    auto net = make();
    auto *own = net.get();
    call(name, *net, N, [own](const std::vector<Tensor> &x) {
      std::array<Tensor, N> inputs;
      std::copy(x.begin(), x.end(), inputs.begin());
      return std::apply([&](const auto &...each) { return listOfResults(called(*own, each...)); }, inputs);
    });
  }

  template <typename Make> void optimizer(const std::string &name, Make make) {
    std::vector<Tensor> params;
    for (size_t i = 0; given.count(name + "/param/" + std::to_string(i)); ++i)
      params.push_back(given.at(name + "/param/" + std::to_string(i)).detach());
    step(name, *make(params), params);
  }

  /// What is said of what cannot be made.
  template <typename Make> void refusal(const std::string &name, Make make) {
    std::vector<Tensor> params = {zeros({1})};
    SGD optimizer({zeros({1})}, {.lr = 0.5});
    try {
      if constexpr (std::is_invocable_v<Make>)
        make();
      else if constexpr (std::is_invocable_v<Make, SGD &>)
        make(optimizer);
      else
        make(params);
    } catch (const Error &error) {
      std::cout << "refused " << name << " " << error.what() << "\n";
    }
  }

  /// The averages of a tensor that grows, and what the tensor has while they are applied.
  template <typename Make> void average(const std::string &name, Make make) {
    Tensor first = given.at("clip/0"), param = first.detach();
    auto averages = make(std::vector<Tensor>{param});
    for (int factor = 2; factor < 5; ++factor) {
      param.assign(first * factor);
      averages->update();
    }
    keepAll(name + "/average/", averages->values());
    StateDict state = averages->stateDict();
    auto again = make(std::vector<Tensor>{param});
    again->loadStateDict(state);
    again->update();
    keepAll(name + "/again/", again->values());
    {
      Averages::Applied applied(*averages);
      keepAll(name + "/applied/", {param});
    }
    keepAll(name + "/own/", {param});
  }

  /// Gradients, clipped.
  template <typename Clip> void clip(const std::string &name, Clip clip) {
    std::vector<Tensor> params;
    for (size_t i = 0; given.count("clip/" + std::to_string(i)); ++i) {
      params.push_back(zeros(given.at("clip/" + std::to_string(i)).shape()));
      params[i].setGrad(given.at("clip/" + std::to_string(i)));
    }
    Tensor norm = clip(params);
    for (size_t i = 0; i < params.size(); ++i)
      keepAll(name + "/" + std::to_string(i) + "/", {params[i].grad()});
    keepAll(name + "/norm/", {norm});
  }

  /// The learning rates of 12 epochs.
  template <typename Make> void schedule(const std::string &name, Make make) {
    SGD optimizer({zeros({1})}, {.lr = 0.5});
    auto schedule = make(optimizer);
    std::vector<double> rates{optimizer.lr()};
    for (double metric : given.at("metrics/all").toVector<double>()) {
      if constexpr (std::is_same_v<decltype(schedule), std::unique_ptr<ReduceLROnPlateau>>)
        schedule->step(metric);
      else
        schedule->step();
      rates.push_back(optimizer.lr());
    }
    results[name + "/rates"] = tensor(rates);
  }

  StateDict given, results;

private:
  static std::string gradName(const std::string &name, size_t step, size_t number) {
    return name + "/grad/" + std::to_string(step) + "/" + std::to_string(number);
  }

  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

  void call(const std::string &name, Module &net, size_t count, const Function &function) {
    keep(name + "/initial/", net.stateDict());
    net.loadStateDict(part(name + "/state/"));
    for (const auto &[path, parameter] : net.namedParameters())
      std::cout << name << " " << path << "\n";
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < count; ++i)
      inputs.push_back(given.at(name + "/input/" + std::to_string(i)));
    train(name, net, inputs, function);
    net.eval();
    keepAll(name + "/eval/", function(inputs));
  }

  void train(const std::string &name, Module &net, const std::vector<Tensor> &inputs, const Function &function) {
    GradManager manager;
    manager.attach(net.parameters());
    for (const Tensor &input : inputs)
      if (input.dtype() == DType::Float32)
        manager.attach(input);
    seed(6);
    std::vector<Tensor> ys, dys;
    {
      auto recording = manager.record();
      ys = function(inputs);
      for (size_t i = 0; i < ys.size(); ++i)
        dys.push_back(given.at(name + "/weight/" + std::to_string(i)));
      manager.backward(ys, dys);
    }
    keepAll(name + "/result/", ys);
    for (const auto &[path, parameter] : net.namedParameters())
      keepAll(name + "/grad/" + path + "/", {parameter.grad()});
    for (size_t i = 0; i < inputs.size(); ++i)
      keepAll(name + "/input_grad/" + std::to_string(i) + "/", {inputs[i].grad()});
    keep(name + "/after/", net.stateDict());
  }

  void step(const std::string &name, Optimizer &optimizer, const std::vector<Tensor> &params) {
    for (size_t step = 0; given.count(gradName(name, step, 0)); ++step) {
      for (size_t i = 0; i < params.size(); ++i)
        params[i].setGrad(given.at(gradName(name, step, i)));
      optimizer.step();
      keepAll(name + "/step/" + std::to_string(step) + "/", params);
    }
    keep(name + "/state/", optimizer.stateDict());
  }

  void keep(const std::string &prefix, const StateDict &state) {
    for (const auto &[name, tensor] : state)
      results[prefix + name] = tensor;
  }
  void keepAll(const std::string &prefix, const std::vector<Tensor> &tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].isDefined())
        results[prefix + std::to_string(i)] =
            fromBytes(tensors[i].toBytes().data(), tensors[i].dtype(), tensors[i].shape());
  }
  StateDict part(const std::string &prefix) const {
    StateDict state;
    for (const auto &[name, tensor] : given)
      if (name.rfind(prefix, 0) == 0)
        state[name.substr(prefix.size())] = tensor;
    return state;
  }
};

#include "tests/frontends/cc/classes/cases.inc"

void runSchedulesByHand(Run &run) {
  run.schedule("lambda_lr", [](Optimizer &optimizer) {
    return std::make_unique<LambdaLR>(optimizer, [](int64_t epoch) { return 1 / (1 + double(epoch)); });
  });
  std::vector<std::unique_ptr<LRScheduler>> parts;
  auto add = [&](std::unique_ptr<LRScheduler> part) { return parts.emplace_back(std::move(part)).get(); };
  run.schedule("sequential_lr", [&](Optimizer &optimizer) {
    ConstantLROptions constant{.factor = 0.25, .totalIters = 9};
    std::vector<LRScheduler *> both = {add(std::make_unique<ConstantLR>(optimizer, constant)),
                                       add(std::make_unique<ExponentialLR>(optimizer, 0.5))};
    return std::make_unique<SequentialLR>(optimizer, both, std::vector<int64_t>{4});
  });
  run.schedule("chained", [&](Optimizer &optimizer) {
    ConstantLROptions constant{.factor = 0.25, .totalIters = 3};
    std::vector<LRScheduler *> both = {add(std::make_unique<ConstantLR>(optimizer, constant)),
                                       add(std::make_unique<ExponentialLR>(optimizer, 0.5))};
    return std::make_unique<ChainedScheduler>(both);
  });
  run.schedule("plateau", [](Optimizer &optimizer) {
    return std::make_unique<ReduceLROnPlateau>(optimizer,
                                               ReduceLROnPlateauOptions{.factor = 0.5, .patience = 1, .cooldown = 1});
  });
}

void runClips(Run &run) {
  for (double ord : {1.0, 2.0, double(INFINITY)})
    run.clip("clip_" + text(ord), [&](const std::vector<Tensor> &params) { return clipGradNorm(params, 0.5, ord); });
  run.clip("clip_value", [](const std::vector<Tensor> &params) {
    clipGradValue(params, -0.5, 0.25);
    return Tensor();
  });
}

void runAverages(Run &run) {
  run.average("ema", [](const std::vector<Tensor> &params) { return std::make_unique<EMA>(params, 0.75); });
  run.average("swa", [](const std::vector<Tensor> &params) { return std::make_unique<SWA>(params); });
  run.refusal("decay", [](const std::vector<Tensor> &params) { EMA(params, 1.5); });
  run.refusal("nothing", [] { SWA({}); });
}

} // namespace

int main(int /*argc*/, char **argv) try {
  Run run(tessera::load(argv[1]));
  runModules(run);
  runOptimizers(run);
  runSchedules(run);
  runSchedulesByHand(run);
  runClips(run);
  runAverages(run);
  runRefusals(run);
  save(run.results, argv[2]);
  return 0;
} catch (const Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
