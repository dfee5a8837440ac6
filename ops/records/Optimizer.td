//===- Optimizer.td - one step of an optimiser ---------------*- tablegen -*-===//
//
// Elementwise, so that a step is one kernel for each parameter. What changes
// from step to step is an operand: a recorded step stays right.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_OPTIMIZER
#define TESS_OPS_OPTIMIZER

include "ops/records/Base.td"

def Tess_SgdUpdateOp : Tess_Op<"sgd_update"> {
  let summary = "one step of stochastic gradient descent";
  let description = [{`g = grad + weight_decay * param`; `new_buf = momentum * momentum_buf + g`; `new_param =
    param - lr * new_buf`, with nesterov `param - lr * (g + momentum * new_buf)`. I. Sutskever et al.: On the
    Importance of Initialization and Momentum in Deep Learning, ICML 2013, in the form that PyTorch's SGD has.}];
  let arguments = (ins Tess_Float:$param, Tess_Float:$grad, Tess_Float:$momentum_buf, Tess_Float:$lr,
                   Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$momentum,
                   Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$weight_decay, DefaultValuedAttr<BoolAttr, "false">:$nesterov);
  let results = (outs Tess_Float:$new_param, Tess_Float:$new_buf);
  let shapes = "(*D), (*D), (*D), () -> (*D), (*D)";
  let dtypes = Promote<["param", "grad", "momentum_buf"]>;
  let lowering = Elementwise_;
  defvar g = (s_add $grad, (s_mul $weight_decay, $param));
  defvar buf = (s_add (s_mul $momentum, $momentum_buf), g);
  defvar direction = (s_select $nesterov, (s_add g, (s_mul $momentum, buf)), buf);
  let scalar = [(s_sub $param, (s_mul (s_cast $lr), direction)), buf];
  let inplace = ["param=new_param", "momentum_buf=new_buf"];
  let attrFacts = [Doc<"momentum", "share of the last step that stays">, Doc<"weight_decay", "pull towards zero">,
                   Doc<"nesterov", "look ahead by the momentum">];
  let samples = [Sample<["4,3", "4,3", "4,3", ""], "", "-2; -2; -2; 0.1", "2; 2; 2; 0.5">,
                 Sample<["4,3", "4,3", "4,3", ""], "momentum=0.9;weight_decay=0.01;nesterov=true", "-2; -2; -2; 0.1", "2; 2; 2; 0.5">];
  let oracle = Oracle<"tess_oracle.sgd_update(param, grad, momentum_buf, lr, momentum, weight_decay, nesterov)">;
  let python = Py<"optimizer", "sgd_update">;
}
def Tess_AdamUpdateOp : Tess_Op<"adam_update"> {
  let summary = "one step of Adam or AdamW";
  let description = [{`new_avg = beta1 * exp_avg + (1 - beta1) * g`, `new_avg_sq = beta2 * exp_avg_sq + (1 -
    beta2) * g^2`, `new_param = param - lr * (new_avg / (1 - beta1^step)) / (sqrt(new_avg_sq / (1 - beta2^step))
    + epsilon)`; step counts from 1. The pull `weight_decay * param` is part of g (D. P. Kingma, J. Ba: Adam,
    ICLR 2015) or, decoupled, of what lr multiplies (I. Loshchilov, F. Hutter: Decoupled Weight Decay
    Regularization, ICLR 2019).}];
  let arguments = (ins Tess_Float:$param, Tess_Float:$grad, Tess_Float:$exp_avg, Tess_Float:$exp_avg_sq, Tess_Float:$lr,
                   Tess_Float:$step, Runtime<DefaultValuedAttr<F64Attr, "0.9">>:$beta1,
                   Runtime<DefaultValuedAttr<F64Attr, "0.999">>:$beta2, Runtime<DefaultValuedAttr<F64Attr, "1e-8">>:$epsilon,
                   Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$weight_decay, DefaultValuedAttr<BoolAttr, "false">:$decoupled);
  let results = (outs Tess_Float:$new_param, Tess_Float:$new_avg, Tess_Float:$new_avg_sq);
  let shapes = "(*D), (*D), (*D), (*D), (), () -> (*D), (*D), (*D)";
  let dtypes = Promote<["param", "grad", "exp_avg", "exp_avg_sq"]>;
  let lowering = Elementwise_;
  defvar decay = (s_mul $weight_decay, $param);
  defvar g = (s_select $decoupled, $grad, (s_add $grad, decay));
  defvar avg = (s_add (s_mul $beta1, $exp_avg), (s_mul (s_sub C<"1">, $beta1), g));
  defvar avgSq = (s_add (s_mul $beta2, $exp_avg_sq), (s_mul (s_sub C<"1">, $beta2), (s_square g)));
  defvar unbiased = (s_div avg, (s_sub C<"1">, (s_pow $beta1, (s_cast $step))));
  defvar unbiasedSq = (s_div avgSq, (s_sub C<"1">, (s_pow $beta2, (s_cast $step))));
  defvar delta = (s_div unbiased, (s_add (s_sqrt unbiasedSq), $epsilon));
  let scalar = [(s_sub $param, (s_mul (s_cast $lr), (s_select $decoupled, (s_add delta, decay), delta))), avg, avgSq];
  let inplace = ["param=new_param", "exp_avg=new_avg", "exp_avg_sq=new_avg_sq"];
  let attrFacts = [Doc<"beta1", "decay of the mean gradient">, Doc<"beta2", "decay of the mean square gradient">,
                   Doc<"epsilon", "added to the root">, Doc<"weight_decay", "pull towards zero">,
                   Doc<"decoupled", "AdamW: the pull is no part of the gradient">];
  let samples = [Sample<["4,3", "4,3", "4,3", "4,3", "", ""], "", "-2; -2; -2; 0.1; 0.1; 1", "2; 2; 2; 1; 0.5; 9">,
                 Sample<["5", "5", "5", "5", "", ""], "weight_decay=0.1;decoupled=true;beta1=0.5;beta2=0.99;epsilon=0.001", "-2; -2; -2; 0.1; 0.1; 1",
                        "2; 2; 2; 1; 0.5; 9">];
  let oracle = Oracle<"tess_oracle.adam_update(param, grad, exp_avg, exp_avg_sq, lr, step, beta1, beta2, epsilon, weight_decay, decoupled)">;
  let python = Py<"optimizer", "adam_update">;
}

#endif // TESS_OPS_OPTIMIZER
