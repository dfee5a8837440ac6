// RUN: tess-opt %s --tess-fuse-elementwise=why=true --split-input-file --verify-diagnostics -o /dev/null

// What shares a kernel must have no remark.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x5xf32>) -> tensor<1x1xf32> {
  %0 = tess.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  // expected-remark-re @+1 {{max: has a kernel of its own beside sum of {{.*}}: reductions and scans of one kernel must be over the same axes of one shape}}
  %1 = tess.max %0 {axes = array<i64: 0>, keepdims = true} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

// -----

func.func @main(%x: tensor<1x5xf32>, %y: tensor<4x1xf32>) -> tensor<4x5xf32> {
  %0 = tess.exp %x : (tensor<1x5xf32>) -> tensor<1x5xf32>
  // expected-remark-re @+1 {{add: has a kernel of its own beside exp of {{.*}}: every value must have the shape of the whole kernel, or of what its reductions leave}}
  %1 = tess.add %0, %y : (tensor<1x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

func.func @main(%x: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %0 = tess.sum %x {axes = array<i64: 0, 1>, keepdims = true} : (tensor<200x200xf32>) -> tensor<1x1xf32>
  // expected-remark-re @+1 {{div: has a kernel of its own beside sum of {{.*}}: what follows a large reduction over everything must use all threads}}
  %1 = tess.div %x, %0 : (tensor<200x200xf32>, tensor<1x1xf32>) -> tensor<200x200xf32>
  return %1 : tensor<200x200xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tess.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark-re @+1 {{add: has a kernel of its own beside exp of {{.*}}: nothing outside must read of a kernel and be read by it}}
  %2 = tess.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %0 = tess.cumsum %x {axis = 1 : si64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark-re @+1 {{sum: has a kernel of its own beside cumsum of {{.*}}: scans of one kernel must go in one direction, and beside no reduction}}
  %1 = tess.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark-re @+1 {{copy: has a kernel of its own beside exp of {{.*}}: a copy must not share a kernel with what it copies}}
  %1 = tess.copy %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tess.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
