//===- ExecutableSerialize.cpp - Executable -> bytes ----------------------===//
#include "runtime/schema/Executable.pb.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/Features.h"
#include "llvm/ADT/DenseMap.h"

namespace tess::runtime {

static void write(const Image &image, pb::Image &out) {
  out.set_code(std::string(image.code()));
  out.set_features(image.features);
  out.set_hash(image.hash);
  out.set_abi(image.abi);
  out.set_kind(uint32_t(image.kind));
  for (const KernelEntry &entry : image.entries) {
    pb::Entry &e = *out.add_entries();
    e.set_name(entry.name);
    e.set_offset(entry.offset);
    e.set_scratch_bytes_per_element(entry.scratchBytesPerElement);
    e.set_picoseconds_per_element(entry.picosecondsPerElement);
    e.set_scratch_bytes_per_chunk(entry.scratchBytesPerChunk);
    e.set_num_pointers(entry.grid.numPointers);
    e.set_num_dims(entry.grid.numDims);
    e.set_team(entry.grid.team);
  }
}

static void write(const ValueDecl &value, pb::Value &out) {
  out.set_kind(uint32_t(value.kind));
  out.set_dtype(uint32_t(value.dtype));
  out.set_base(value.base);
  out.set_constant(value.constant);
  out.set_name(value.name);
  out.set_location(value.location);
}

static void write(const ProgramNode &node, pb::Node &out) {
  if (node.op)
    out.set_op(node.op.serialize());
  out.set_loop(uint32_t(node.loop) + 1);
  out.mutable_operands()->Assign(node.operands.begin(), node.operands.end());
  out.mutable_segments()->Assign(node.segments.begin(), node.segments.end());
  out.mutable_results()->Assign(node.results.begin(), node.results.end());
}

static void write(const LoopDecl &loop, pb::Loop &out) {
  out.mutable_arguments()->Assign(loop.arguments.begin(), loop.arguments.end());
  out.mutable_yields()->Assign(loop.yields.begin(), loop.yields.end());
  out.set_num_carried(loop.numCarried);
  out.set_num_nodes(loop.numNodes);
  out.set_num_steps(loop.numSteps);
  out.set_length(loop.length);
  out.set_reverse(loop.reverse);
  out.set_guarded(loop.isGuarded);
}

static void writeGroups(const AxisGroups &groups, google::protobuf::RepeatedPtrField<pb::Group> &out) {
  for (AxisGroup group : groups) {
    pb::Group &g = *out.Add();
    g.set_first(group.first);
    g.set_last(group.last);
  }
}

static void writeKernelPart(const Step &step, pb::Step &out) {
  out.mutable_domain()->Assign(step.domain.begin(), step.domain.end());
  writeGroups(step.parallel, *out.mutable_parallel());
  writeGroups(step.reduced, *out.mutable_reduced());
  out.set_vector_on_reduced(step.vectorOnReduced);
  for (InnerClass inner : step.innerClasses)
    out.mutable_inner_classes()->push_back(char(inner));
  for (const ScalarSource &scalar : step.scalars) {
    pb::Scalar &s = *out.add_scalars();
    s.set_kind(scalar.kind);
    s.set_bits(scalar.bits);
    s.set_parameter(scalar.parameter);
  }
  for (const LookupDecl &lookup : step.lookups) {
    pb::Lookup &l = *out.add_lookups();
    l.set_operand(lookup.operand);
    l.set_axis(lookup.axis);
    l.set_node(lookup.node);
  }
  out.set_image(step.image);
  out.set_entry(step.entry);
  out.set_fill_entry(step.fillEntry);
}

static void write(const Step &step, pb::Step &out) {
  out.set_kind(uint32_t(step.kind));
  out.mutable_operands()->Assign(step.operands.begin(), step.operands.end());
  out.mutable_results()->Assign(step.results.begin(), step.results.end());
  writeKernelPart(step, out);
  if (step.op)
    out.set_op(step.op.serialize());
  out.mutable_segments()->Assign(step.segments.begin(), step.segments.end());
  for (auto [operand, result] : step.inplace) {
    pb::Pair &p = *out.add_inplace();
    p.set_operand(operand);
    p.set_result(result);
  }
  out.set_implementation(step.implementation);
  out.set_location(step.location);
  out.set_loop(uint32_t(step.loop) + 1);
}

static void write(const ConstantDecl &constant, pb::Constant &out) {
  out.set_dtype(uint32_t(constant.meta.dtype));
  out.mutable_shape()->Assign(constant.meta.shape.begin(), constant.meta.shape.end());
  out.set_content(constant.content().data(), constant.content().size());
  out.set_tensor(constant.tensor);
}

static void write(const InputDecl &input, pb::Input &out) {
  out.set_name(input.name);
  out.set_value(input.value);
  out.set_dtype(uint32_t(input.dtype));
  for (DimDecl dim : input.dims) {
    pb::Dim &d = *out.add_dims();
    d.set_size(dim.size);
    d.set_symbol(dim.symbol);
  }
  out.set_initial(uint32_t(input.initial) + 1);
}

/// Puts the quantized dtypes of `out` into its own table: their numbers are those of this process.
static void tabulateQuantized(pb::Executable &out) {
  llvm::DenseMap<uint32_t, uint32_t> numbers;
  auto renumber = [&](auto &part) {
    DType dtype = DType(part.dtype());
    if (!parametersOf(dtype))
      return;
    auto [known, isNew] = numbers.try_emplace(part.dtype(), out.quantized_size() + 1);
    if (isNew)
      out.add_quantized(shortName(dtype).str());
    part.set_dtype(uint32_t(kindOf(dtype)) | known->second << kKindBits);
  };
  for (pb::Value &value : *out.mutable_values())
    renumber(value);
  for (pb::Constant &constant : *out.mutable_constants())
    renumber(constant);
  for (pb::Input &input : *out.mutable_inputs())
    renumber(input);
}

std::string serializeExecutable(const Executable &executable) {
  pb::Executable out;
  Features features = featuresOf(executable);
  out.set_version(features.format());
  for (std::string &name : features.names())
    out.add_critical_features(std::move(name));
  out.set_target(executable.target);
  out.set_num_threads(executable.numThreads);
  out.set_without_winograd(executable.withoutWinograd);
  out.set_fast(executable.isFast);
  out.set_num_scalars(executable.numScalars);
  out.set_bits_version(executable.bitsVersion);
  for (const DataSize &size : executable.dataSizes) {
    pb::DataSize &s = *out.add_data_sizes();
    s.set_value(size.value);
    s.set_axis(size.axis);
  }
  for (const SymbolDecl &symbol : executable.symbols) {
    pb::Symbol &s = *out.add_symbols();
    s.set_name(symbol.name);
    s.set_min(symbol.min);
    s.set_max(symbol.max);
  }
  for (const ValueDecl &value : executable.values)
    write(value, *out.add_values());
  for (const ProgramNode &node : executable.nodes)
    write(node, *out.add_nodes());
  for (const Step &step : executable.steps)
    write(step, *out.add_steps());
  for (const LoopDecl &loop : executable.loops)
    write(loop, *out.add_loops());
  for (const Image &image : executable.images)
    write(image, *out.add_images());
  for (const ConstantDecl &constant : executable.constants)
    write(constant, *out.add_constants());
  for (const InputDecl &input : executable.inputs)
    write(input, *out.add_inputs());
  for (const OutputDecl &output : executable.outputs) {
    pb::Output &o = *out.add_outputs();
    o.set_name(output.name);
    o.set_value(output.value);
    o.set_donates(output.donates);
  }
  tabulateQuantized(out);
  return out.SerializeAsString();
}

} // namespace tess::runtime
