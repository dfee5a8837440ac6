//===- deployed.cpp - a program that a user would write over deploy.h ----===//
//
// deployed MODEL.tess DEVICE FOLDER...
//
// Loads the file once, and binds and runs it for the arrays of each folder:
// NAME.npy of every input; it writes NAME.npy of every output.
//
//===----------------------------------------------------------------------===//
#include "tessera/deploy.h"
#include "tessera/npy.h"

#include <iostream>

using namespace tessera::deploy;

static Status readInputs(const Model &model, const std::string &folder, std::vector<NpyArray> &arrays) {
  for (const InputInfo &input : model.inputs())
    if (Status status = readNpy(folder + "/" + input.name + ".npy", arrays.emplace_back()); !status)
      return status;
  return {};
}

/// Output shapes that data decides are known after the run only.
static Status runFolder(const Model &model, Session &session, const std::string &folder) {
  std::vector<NpyArray> arrays;
  if (Status status = readInputs(model, folder, arrays); !status)
    return status;
  std::vector<Shape> shapes;
  std::vector<const void *> inputs;
  for (const NpyArray &array : arrays) {
    shapes.push_back(array.shape);
    inputs.push_back(array.data.data());
  }
  if (Status status = model.bind(shapes, session); !status)
    return status;
  std::vector<std::vector<char>> results;
  std::vector<void *> outputs;
  for (size_t i = 0; i < model.outputs().size(); ++i)
    outputs.push_back(results.emplace_back(session.outputBytes(i)).data());
  auto memory = [&](size_t output, size_t bytes) -> void * {
    results[output].resize(bytes);
    return outputs[output] = results[output].data();
  };
  if (Status status = session.run(inputs.data(), inputs.size(), outputs.data(), outputs.size(), memory); !status)
    return status;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    const OutputInfo &output = model.outputs()[i];
    std::string path = folder + "/" + output.name + ".npy";
    if (Status status = writeNpy(path, output.dtype, session.outputShapes()[i], outputs[i]); !status)
      return status;
  }
  return {};
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  LoadOptions options;
  options.device = argv[2];
  Model model;
  Session session;
  Status status = Model::load(argv[1], model, options);
  for (int i = 3; i < argc && status; ++i)
    status = runFolder(model, session, argv[i]);
  if (!status)
    std::cerr << "deployed: " << status.message << "\n";
  return status ? 0 : 1;
}
