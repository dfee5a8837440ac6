//===- train_mlp.cpp - trains a network in C++ ---------------------------===//
//
// train_mlp TRAIN.csv HELD_OUT.csv OUT.tess OUT.logits
//
// Trains a multilayer perceptron on the digits with a traced step. Then it
// dumps the inference function with a free batch size, loads it again, and
// compares. The logits of the held-out digits go to OUT.logits as float32.
//
//===----------------------------------------------------------------------===//
#include "frontends/cc/examples/Digits.h"
#include "tessera/Autodiff.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/functional.h"

#include <fstream>
#include <iostream>

using namespace tessera;

namespace {

constexpr int64_t kBatch = 64, kEpochs = 20;

class Mlp : public Module {
public:
  Mlp() {
    registerModule("hidden1", hidden1);
    registerModule("hidden2", hidden2);
    registerModule("output", output);
  }
  Tensor forward(const Tensor &x) override { return output(functional::relu(hidden2(functional::relu(hidden1(x))))); }

private:
  Linear hidden1{digits::kPixels, 128}, hidden2{128, 64}, output{64, 10};
};

/// The images and labels of the rows `order[first...]`.
std::pair<Tensor, Tensor> batchOf(const digits::Digits &data, const std::vector<int64_t> &order, int64_t first) {
  std::vector<float> images;
  std::vector<int32_t> labels;
  for (int64_t i = first; i < first + kBatch; ++i) {
    auto image = data.images.begin() + order[i] * digits::kPixels;
    images.insert(images.end(), image, image + digits::kPixels);
    labels.push_back(data.labels[order[i]]);
  }
  return {tensor(images, Shape{kBatch, digits::kPixels}), tensor(labels)};
}

void train(Mlp &model, const digits::Digits &data) {
  GradManager manager;
  manager.attach(model.parameters());
  SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  auto step = jit::trace([&](const Tensor &image, const Tensor &label) {
    auto recording = manager.record();
    Tensor loss = functional::cross_entropy(model(image), label);
    manager.backward(loss);
    optimizer.step().clearGrad();
    return loss;
  });
  model.train();
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<int64_t> order = defaultGenerator().permutation(data.count());
    Tensor loss;
    for (int64_t first = 0; first + kBatch <= data.count(); first += kBatch) {
      auto [image, label] = batchOf(data, order, first);
      loss = step(image, label);
    }
    std::cout << "epoch " << epoch + 1 << ": loss " << loss.item<float>() << "\n";
  }
  model.eval();
}

/// Dumps the model and compares the results of the file with those of the model, at several batch sizes.
bool dumpAndCompare(Mlp &model, const Tensor &images, const std::string &path) {
  auto infer = jit::trace([&](const Tensor &image) { return model(image); });
  infer(images);
  infer.dump(path, {.inputs = {"image"}, .outputs = {"logits"}, .dims = {{"image", {{0, {"batch", 1, 512}}}}}});
  jit::Program loaded = jit::load(path);
  bool isSame = true;
  for (int64_t batch : {int64_t(1), int64_t(7), images.size(0)}) {
    Tensor some = images.index({Slice(0, batch)});
    isSame &= model(some).toBytes() == loaded({some}).front().toBytes();
  }
  return isSame;
}

int run(char **paths) {
  digits::Digits training = digits::readDigits(paths[0]), heldOut = digits::readDigits(paths[1]);
  seed(1);
  Mlp model;
  train(model, training);
  Tensor images = tensor(heldOut.images, Shape{heldOut.count(), digits::kPixels});
  std::vector<float> logits = model(images).toVector<float>();
  double share = digits::accuracy(logits, heldOut.labels);
  bool isSame = dumpAndCompare(model, images, paths[2]);
  std::ofstream(paths[3], std::ios::binary)
      .write(reinterpret_cast<const char *>(logits.data()), logits.size() * sizeof(float));
  std::cout << "train_mlp: held-out accuracy " << share * 100 << " %, eager == loaded: " << (isSame ? "yes" : "no")
            << "\n";
  return share >= 0.95 && isSame ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::cerr << "usage: train_mlp TRAIN.csv HELD_OUT.csv OUT.tess OUT.logits\n";
    return 2;
  }
  try {
    return run(argv + 1);
  } catch (const Error &error) {
    std::cerr << "train_mlp: " << error.what() << "\n";
    return 1;
  }
}
