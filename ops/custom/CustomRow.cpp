//===- CustomRow.cpp - the rows of a library's operator -------------------===//
#include "ops/custom/CustomRow.h"

#include "ops/custom/CustomCalls.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>

namespace tess::custom {

namespace {

llvm::StringRef textOr(const char *text, llvm::StringRef otherwise = "") { return text ? text : otherwise; }

/// Copies a declaration, with zeros for the members that the library does not know.
TessOperator known(const TessOperator &op) {
  TessOperator copy = {};
  std::memcpy(&copy, &op, std::min(op.size, sizeof copy));
  return copy;
}

llvm::Expected<AttrValue> parsed(TessParameterKind kind, llvm::StringRef text) {
  switch (kind) {
  case TESS_PARAMETER_INT:
    return AttrValue::parse(AttrKind::I64, text);
  case TESS_PARAMETER_FLOAT:
    return AttrValue::parse(AttrKind::F64, text);
  case TESS_PARAMETER_BOOL:
    return AttrValue::parse(AttrKind::Bool, text.lower());
  case TESS_PARAMETER_INTS:
    return AttrValue::parse(AttrKind::I64List, text);
  case TESS_PARAMETER_TEXT:
    break;
  }
  return AttrValue(text.str());
}

std::optional<AttrKind> kindFor(TessParameterKind kind) {
  switch (kind) {
  case TESS_PARAMETER_INT:
    return AttrKind::I64;
  case TESS_PARAMETER_FLOAT:
    return AttrKind::F64;
  case TESS_PARAMETER_BOOL:
    return AttrKind::Bool;
  case TESS_PARAMETER_TEXT:
    return AttrKind::Str;
  case TESS_PARAMETER_INTS:
    return AttrKind::I64List;
  }
  return std::nullopt;
}

} // namespace

/// Fills in an Operator.
class RowBuilder {
public:
  explicit RowBuilder(Operator &to) : to(to), op(to.op) {}

  llvm::Error run() {
    if (llvm::Error error = checkName())
      return error;
    if (!op.infer || !op.forward)
      return refused("functions infer and forward must be given", "none");
    for (auto add : {&RowBuilder::addOperands, &RowBuilder::addResults, &RowBuilder::addParameters,
                     &RowBuilder::addReads, &RowBuilder::addPairs})
      if (llvm::Error error = (this->*add)())
        return error;
    finish();
    return llvm::Error::success();
  }

private:
  llvm::Error refused(const llvm::Twine &must, const llvm::Twine &got) const {
    return invalidArgument("custom_op: " + must + ", got " + got + " of " +
                           textOr(op.name, "an operator without a name"));
  }

  llvm::Error checkName() {
    auto [library, name] = textOr(op.name).split("::");
    if (isIdentifier(library) && isIdentifier(name) && library == to.from.library)
      return llvm::Error::success();
    return refused("name must be " + to.from.library + "::name", "'" + textOr(op.name) + "'");
  }

  const char *kept(llvm::StringRef text) {
    return to.texts.emplace_back(std::make_unique<std::string>(text.str()))->c_str();
  }

  /// Notes a name that arguments, outputs or states have.
  llvm::Error take(const char *name, llvm::StringSet<> &names) const {
    if (!mayBeName(textOr(name)))
      return refused(kNameRule, "'" + textOr(name) + "'");
    if (!names.insert(name).second)
      return refused("names must differ", "'" + textOr(name) + "' twice");
    return llvm::Error::success();
  }

  static DTypeMask maskFor(const TessValue &value) { return value.dtypes ? value.dtypes & kAnyMask : kAnyMask; }

  llvm::Error addOperands() {
    bool wasOptional = false;
    unsigned variadic = 0;
    for (const TessValue &input : llvm::ArrayRef(op.inputs, op.num_inputs)) {
      const bool isOptional = input.flags & TESS_OPTIONAL, isVariadic = input.flags & TESS_VARIADIC;
      variadic += isVariadic;
      if ((wasOptional && !isOptional) || (isOptional && isVariadic) || variadic > 1 || (variadic && isOptional))
        return refused("one input may be variadic, or the last ones optional", "input " + textOr(input.name));
      wasOptional = isOptional;
      if (llvm::Error error = take(input.name, arguments))
        return error;
      to.operands.push_back({kept(input.name),
                             isVariadic   ? Arity::Variadic
                             : isOptional ? Arity::Optional
                                          : Arity::One,
                             maskFor(input)});
    }
    if (!op.num_inputs)
      return refused("there must be an input", "none");
    for (const TessValue &state : llvm::ArrayRef(op.states, op.num_states)) {
      if (wasOptional)
        return refused("an operator with states must have no optional inputs", "state " + textOr(state.name));
      if (llvm::Error error = take(state.name, arguments))
        return error;
      to.operands.push_back({kept(state.name), Arity::One, maskFor(state)});
    }
    if (to.usesRandom() && wasOptional)
      return refused("an operator that draws random numbers must have no optional inputs", "some");
    for (const char *name : {kSeed, kOffset})
      if (to.usesRandom())
        to.operands.push_back({name, Arity::One, maskOf(DType::Int64)});
    return llvm::Error::success();
  }

  llvm::Error addResults() {
    llvm::StringSet<> names;
    std::vector<ResultInfo> hidden;
    for (unsigned i = 0; i < op.num_outputs; ++i) {
      const TessValue &output = op.outputs[i];
      if (llvm::Error error = take(output.name, names))
        return error;
      const bool isHidden = output.flags & TESS_HIDDEN, isSized = output.flags & TESS_DATA_SIZED;
      if (isSized && (isHidden || to.dataSizedOutput >= 0))
        return refused("data must size at most one output, which is returned", textOr(output.name));
      if (!isHidden && !hidden.empty())
        return refused("hidden outputs must be the last ones", textOr(output.name) + " behind one");
      to.dataSizedOutput = isSized ? int(i) : to.dataSizedOutput;
      (isHidden ? hidden : to.results).push_back({kept(output.name), maskFor(output), isHidden, Arity::One});
    }
    to.numVisible = unsigned(to.results.size());
    if (!to.numVisible)
      return refused("there must be an output that is returned", "none");
    for (const TessValue &state : llvm::ArrayRef(op.states, op.num_states))
      to.results.push_back({kept("new_" + textOr(state.name).str()), maskFor(state), false, Arity::One});
    llvm::append_range(to.results, hidden);
    return llvm::Error::success();
  }

  llvm::Error limit(const TessParameter &parameter, const char *text, double &number) const {
    if (!text)
      return llvm::Error::success();
    const TessParameterKind kind = parameter.kind == TESS_PARAMETER_FLOAT ? TESS_PARAMETER_FLOAT : TESS_PARAMETER_INT;
    llvm::Expected<AttrValue> value = parsed(kind, text);
    const bool isNumber = parameter.kind != TESS_PARAMETER_TEXT && parameter.kind != TESS_PARAMETER_BOOL;
    if (!value || !isNumber) {
      llvm::consumeError(value.takeError());
      return refused("limits of " + textOr(parameter.name) + " must be numbers of its kind", "'" + textOr(text) + "'");
    }
    number = kind == TESS_PARAMETER_FLOAT ? value->f64() : double(value->i64());
    return llvm::Error::success();
  }

  llvm::Error addParameter(const TessParameter &parameter) {
    if (llvm::Error error = take(parameter.name, arguments))
      return error;
    const std::optional<AttrKind> kind = kindFor(parameter.kind);
    if (!kind)
      return refused("kinds of parameters must be known", textOr(parameter.name));
    AttrInfo attr = {};
    attr.name = kept(parameter.name);
    attr.kind = *kind;
    attr.doc = kept(textOr(parameter.doc));
    attr.min = -kInfinity;
    attr.max = kInfinity;
    attr.axisOf = attr.length = -1;
    // A number decides shapes and what the library computes; dtypes may follow from the others.
    attr.isBindTime = *kind == AttrKind::I64 || *kind == AttrKind::F64 || *kind == AttrKind::I64List;
    if (llvm::Error error = limit(parameter, parameter.least, attr.min))
      return error;
    if (llvm::Error error = limit(parameter, parameter.most, attr.max))
      return error;
    if (parameter.choices) {
      auto &cases = to.cases.emplace_back();
      for (const char *const *choice = parameter.choices; *choice; ++choice)
        cases.push_back(kept(*choice));
      attr.cases = cases;
    }
    if (parameter.default_text) {
      llvm::Expected<AttrValue> value = parsed(parameter.kind, parameter.default_text);
      if (!value) {
        llvm::consumeError(value.takeError());
        return refused("the default of " + textOr(parameter.name) + " must be a value of its kind",
                       "'" + textOr(parameter.default_text) + "'");
      }
      setDefault(attr, std::move(*value));
      if (llvm::Error error = checkAttr(op.name, attr, *attr.heldDefault))
        return error;
    }
    to.attrs.push_back(attr);
    return llvm::Error::success();
  }

  void setDefault(AttrInfo &attr, AttrValue value) {
    attr.hasDefault = true;
    attr.heldDefault = to.defaults.emplace_back(std::make_unique<AttrValue>(std::move(value))).get();
  }

  llvm::Error addParameters() {
    for (const TessParameter &parameter : llvm::ArrayRef(op.parameters, op.num_parameters))
      if (llvm::Error error = addParameter(parameter))
        return error;
    if (to.usesTraining()) {
      const TessParameter training = {
          kIsTraining, "whether the call is of training", "false", nullptr, nullptr, nullptr, TESS_PARAMETER_BOOL};
      if (llvm::Error error = addParameter(training))
        return error;
    }
    to.backwardAttrs = to.attrs;
    for (const char *name : {kNeeded, kGiven, kSizes}) {
      AttrInfo attr = {};
      attr.name = name;
      attr.kind = AttrKind::I64List;
      attr.doc = "of the gradients that are wanted";
      attr.min = -kInfinity;
      attr.max = kInfinity;
      attr.axisOf = attr.length = -1;
      attr.isSize = attr.isBindTime = name == kSizes;
      setDefault(attr, IntList());
      to.backwardAttrs.push_back(attr);
    }
    return llvm::Error::success();
  }

  /// Reads a list of numbers that is ended by -1.
  llvm::Error readList(const int32_t *list, unsigned count, const char *what, llvm::SmallVector<unsigned, 4> &numbers) {
    for (; list && *list != -1; ++list) {
      if (*list < 0 || *list >= int32_t(count) || llvm::is_contained(numbers, unsigned(*list)))
        return refused(llvm::Twine("backward must read ") + what + " that there are, each once", llvm::Twine(*list));
      numbers.push_back(unsigned(*list));
    }
    return llvm::Error::success();
  }

  llvm::Error addReads() {
    if (!op.backward)
      return llvm::Error::success();
    if (llvm::any_of(to.operands, [](const OperandInfo &operand) { return operand.arity == Arity::Variadic; }) &&
        op.reads_inputs)
      return refused("backward of variadic inputs must read no inputs", "some");
    if (!op.reads_gradients)
      for (unsigned i = 0; i < op.num_outputs; ++i)
        if (to.results[to.resultOf(i)].dtypes & (kFloatMask | kComplexMask))
          to.backwardReads.gradients.push_back(i);
    if (llvm::Error error = readList(op.reads_gradients, op.num_outputs, "gradients", to.backwardReads.gradients))
      return error;
    if (llvm::Error error = readList(op.reads_inputs, op.num_inputs, "inputs", to.backwardReads.inputs))
      return error;
    return readList(op.reads_outputs, op.num_outputs, "outputs", to.backwardReads.outputs);
  }

  llvm::Error addPairs() {
    for (const TessPair &pair : llvm::ArrayRef(op.inplace, op.num_inplace)) {
      if (pair.input >= op.num_inputs || pair.output >= op.num_outputs)
        return refused("pairs must be of inputs and outputs that there are",
                       "(" + llvm::Twine(pair.input) + ", " + llvm::Twine(pair.output) + ")");
      to.inplace.emplace_back(uint8_t(pair.input), uint8_t(to.resultOf(pair.output)));
    }
    for (unsigned i = 0; i < op.num_states; ++i)
      to.inplace.emplace_back(uint8_t(op.num_inputs + i), uint8_t(to.stateResult(i)));
    return llvm::Error::success();
  }

  /// Whether autocast may leave narrow floats as they are: an input takes them, or none takes floats.
  bool takesNarrowFloats() const {
    constexpr DTypeMask kNarrow = maskOf(DType::Float16) | maskOf(DType::BFloat16);
    return llvm::all_of(to.operands, [](const OperandInfo &operand) {
      return !(operand.dtypes & kFloatMask) || (operand.dtypes & kNarrow) == kNarrow;
    });
  }

  void finish() {
    auto [library, name] = textOr(op.name).split("::");
    OpInfo &row = to.forwardRow;
    row.origin = &to.from;
    row.custom = &to;
    row.name = row.opdefName = kept((library + "." + name).str());
    row.summary = kept(textOr(op.summary, "an operator of a library"));
    row.version = 1;
    row.operands = to.operands;
    row.results = to.results;
    row.attrs = to.attrs;
    row.shapeRule = inferForward;
    row.dtypes.kind = DTypeRuleKind::Rule;
    row.lowering = Lowering::Library;
    row.regionSteps = -1;
    row.kernel = kKernelName;
    row.sharding.whole = -1;
    row.inplace = to.inplace;
    row.stochastic = to.usesRandom();
    row.pythonModule = kept(("ops." + library).str());
    row.pythonName = kept(name);
    row.boundRule = to.dataSizedOutput >= 0 ? boundForward : nullptr;
    row.simple = llvm::all_of(to.operands, [](const OperandInfo &operand) { return operand.arity == Arity::One; });
    row.autocast = takesNarrowFloats() ? Precision::Given : Precision::High;
    if (!op.backward)
      return;
    row.gradient = gradient;
    finishBackward(row);
  }

  void finishBackward(const OpInfo &forward) {
    to.backwardOperands = {{"values", Arity::Variadic, kAnyMask}};
    to.backwardResults = {{"gradients", kFloatMask | kComplexMask, false, Arity::Variadic}};
    OpInfo &row = to.backwardRow;
    row = forward;
    row.name = row.opdefName = kept(std::string(forward.name) + ".backward");
    row.summary = kept("the gradient of " + std::string(forward.name));
    row.operands = to.backwardOperands;
    row.results = to.backwardResults;
    row.attrs = to.backwardAttrs;
    row.shapeRule = inferBackward;
    row.boundRule = nullptr;
    row.gradient = nullptr;
    row.inplace = {};
    row.pythonName = "";
    row.simple = false;
  }

  Operator &to;
  const TessOperator &op;
  llvm::StringSet<> arguments;
};

llvm::Expected<std::unique_ptr<Operator>> Operator::make(const TessOperator &op, const OpOrigin &origin) {
  std::unique_ptr<Operator> made(new Operator(known(op), origin));
  if (llvm::Error error = RowBuilder(*made).run())
    return std::move(error);
  return made;
}

} // namespace tess::custom
