//===- BitsVersion.cpp - which bits a build computes ----------------------===//
#include "runtime/schema/BitsVersion.h"

namespace tess::runtime {

static constexpr BitsChange kChanges[] = {
    {1, "acos asin atan atan2 cosh erfc logaddexp pow sinh", "float32", 4, 0,
     "expansions with the digits of float32 instead of float64's: both within 2 ulp of the exact result"},
    {1, "normal", "float32", 0, 1e-6, "cos(2 pi v) rounded 2 pi v to float32, an ulp of which is 5e-7"},
    {2,
     "batch_norm batch_norm_inference cross_entropy gelu hsigmoid hswish l1_loss layer_norm linear "
     "log_softmax logsumexp norm normalize rms_norm scaled_dot_product_attention softmax square_loss std var",
     "float16 bfloat16", 0, 0.1, "computed in float32 inside and rounded once, where each step rounded"},
    {3,
     "batch_norm cross_entropy l1_loss layer_norm log_softmax logsumexp mean norm normalize prod rms_norm "
     "scaled_dot_product_attention softmax square_loss std sum var",
     "float32 float64", 0, 1e-4, "more than 32768 elements are reduced to one in chunks, and these in their order"},
    {3,
     "batch_norm cross_entropy l1_loss layer_norm log_softmax logsumexp mean norm normalize prod rms_norm "
     "scaled_dot_product_attention softmax square_loss std sum var",
     "float16 bfloat16", 0, 0.02, "the same before the result is rounded"},
    {4, "nll_loss", "float16 bfloat16 float32 float64", 1, 0, "a score of -0.0 keeps its sign"},
    {4, "einsum linear matmul", "float32", 0, 1e-5,
     "a matrix by a vector is summed in 16 lanes, several of them by a kernel of the library for matrices, where a "
     "plain one of it summed one after the other"},
    {4, "einsum linear matmul", "bfloat16", 0, 0.02, "a matrix by a vector: that other kernel of the library, rounded"},
    {5, "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "float32 float64", 0, 1e-4,
     "the mean of all is summed in 16 lanes, where it was summed one after the other"},
    {5, "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "float16 bfloat16", 0, 0.02,
     "the same before the result is rounded"},
    {6, "conv1d_backward_weight conv2d_backward_weight conv3d_backward_weight", "bfloat16", 0, 0.02,
     "computed in float32 and rounded once, where a kernel of the library for bfloat16 was wrong at some shapes"},
    {6,
     "conv1d conv1d_backward_data conv2d conv2d_backward_data conv3d conv3d_backward_data conv_transpose1d "
     "conv_transpose2d conv_transpose3d einsum linear matmul",
     "bfloat16", 0, 0.02, "on a processor with AMX: the library's kernels for AVX-512, as its for AMX were wrong"},
    {7, "einsum linear matmul", "float32 float64", 0, 1e-5,
     "results with rows of 64 MiB and more: our own loops, where blocks of the library's could end the process"},
    {7, "einsum linear matmul", "bfloat16", 0, 0.02, "the same, rounded"},
    {8, "copysign signbit", "float16 bfloat16 float32 float64 bool", 0, 1, "the sign of a NaN counts"},
    {8, "linspace", "float16 bfloat16 float32 float64", 4, 0, "the last element is the end"},
    {8, "cross_entropy nll_loss", "float16 bfloat16 float32 float64", 1, 0,
     "divided by the number of labels that count, in float32 for halves; a score of -0.0 keeps its sign"},
    {8, "abs div exp log", "complex64 complex128", 0, 0.5,
     "C11's values, which are infinite or 0, at infinite parts and a divisor 0, where they were NaN"},
    {8, "pow", "complex64 complex128", 0, 1e-4, "whole exponents below 128 are products, where they were exponentials"},
    {8, "index_add scatter_add bincount", "float16 bfloat16", 0, 1,
     "sums at one place, as gradients of what reads by indices are, too: in float32 and rounded once"},
    {8, "cosine_similarity norm normalize std triplet_margin_loss", "float32", 0, 1e-5,
     "computed in float64 inside and rounded once"},
    {8, "cosine_similarity norm normalize std triplet_margin_loss", "float16 bfloat16", 0, 0.02, "the same"},
    {8, "batch_norm batch_norm_inference general_norm group_norm instance_norm layer_norm rms_norm",
     "float16 bfloat16 float32 float64", 0, 1e-2, "NaN where the variance is beyond the dtype, where it was 0"},
    {8,
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d batch_norm binary_cross_entropy cosine_similarity "
     "cross_entropy dot general_norm group_norm hinge_loss huber_loss instance_norm kl_div l1_loss layer_norm "
     "log_softmax "
     "logsumexp mean nll_loss norm normalize rms_norm scaled_dot_product_attention smooth_l1_loss softmax square_loss "
     "std "
     "sum trace triplet_margin_loss var",
     "float32", 0, 1e-2,
     "sums of more than 1024 elements go in pieces, whose results are added in float64: one of 10^7 was off by 6e-3"},
    {8,
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d batch_norm binary_cross_entropy cosine_similarity "
     "cross_entropy dot general_norm group_norm hinge_loss huber_loss instance_norm kl_div l1_loss layer_norm "
     "log_softmax "
     "logsumexp mean nll_loss norm normalize rms_norm scaled_dot_product_attention smooth_l1_loss softmax square_loss "
     "std "
     "sum trace triplet_margin_loss var",
     "float64", 0, 1e-9, "sums of more than 1024 elements go in pieces"},
    {8,
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d batch_norm binary_cross_entropy cosine_similarity "
     "cross_entropy dot general_norm group_norm hinge_loss huber_loss instance_norm kl_div l1_loss layer_norm "
     "log_softmax "
     "logsumexp mean nll_loss norm normalize rms_norm scaled_dot_product_attention smooth_l1_loss softmax square_loss "
     "std "
     "sum trace triplet_margin_loss var",
     "float16 bfloat16", 0, 0.02, "pieces of float32 sums, before the result is rounded"},
    {8, "einsum linear matmul", "float32 complex64", 0, 1e-2,
     "a float32 matrix by a vector, and complex products: more than 1024 terms go in pieces, added in float64"},
    {8, "einsum linear matmul", "float16", 0, 0.02, "more than 1024 terms go in pieces, before the result is rounded"},
    {8, "einsum linear matmul", "float32 float64", 0, 1e-5,
     "generated kernels: chunks of 256 terms, each a chain of multiply-adds, added in their order, on every processor"},
    {8, "einsum linear matmul", "float16 bfloat16", 0, 0.02,
     "the same in float32, rounded once, with a bias behind it; of bfloat16 chunks of 512 terms, and subnormal numbers "
     "are zeros"},
    {8, "linear matmul", "float32 float64", 0, 1e-5,
     "gradients of a matrix that multiplies a batch: one product over all rows, where products were summed"},
    {8, "linear matmul", "float16 bfloat16", 0, 0.02, "the same, rounded once"},
    {8, "scaled_dot_product_attention", "float32 float64", 0, 1e-5, "by these products"},
    {8,
     "conv1d conv1d_backward_data conv1d_backward_weight conv2d conv2d_backward_data conv2d_backward_weight conv3d "
     "conv3d_backward_data conv3d_backward_weight conv_transpose1d conv_transpose2d conv_transpose3d",
     "float32 float64", 0, 1e-5,
     "by such products of windows, whose places come before their channels where these are in blocks of 16"},
    {8,
     "conv1d conv1d_backward_data conv1d_backward_weight conv2d conv2d_backward_data conv2d_backward_weight conv3d "
     "conv3d_backward_data conv3d_backward_weight conv_transpose1d conv_transpose2d conv_transpose3d",
     "float16 bfloat16", 0, 0.02, "by such products, rounded once"},
    {8, "scaled_dot_product_attention", "float16 bfloat16", 0, 0.02, "by these products, rounded"},
    {8, "scaled_dot_product_attention", "float32 float64", 0, 1e-5,
     "without weights: blocks of 256 keys, relative to the largest score so far, on every processor"},
    {8, "scaled_dot_product_attention", "float16 bfloat16", 0, 0.02, "the same in float32, rounded once"},
    {8, "prod", "float32 float64", 0, 1e-5,
     "gradients: products of the elements before and behind, without a division"},
    {8, "norm std", "float32 float64", 0, 1e-6, "gradients: rules of their own, 0 where the result is 0"},
    {8, "det", "float32 float64", 0, 1e-4, "gradients: by singular values, also of a singular matrix"},
    {8, "atan2 hypot", "float32 float64", 4, 0, "gradients: divided by the distance twice, 0 at the origin"},
};

llvm::ArrayRef<BitsChange> bitsChanges() { return kChanges; }

unsigned bitsVersion() { return bitsChanges().back().version; }

} // namespace tess::runtime
