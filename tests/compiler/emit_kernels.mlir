// RUN: tess-opt %s --tess-emit-kernels --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tess-opt %s --split-input-file | FileCheck %s --check-prefix=TEXT

// An elementwise kernel: a loop over whole vectors, then the masked rest.
// CHECK: llvm.func @add(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i64, %arg4: i64, %arg5: i64, %arg6: i64)
// CHECK: llvm.br [[HEADER:\^bb[0-9]+]](
// CHECK: [[HEADER]]({{.*}}: i64)
// CHECK: llvm.fadd {{.*}} : vector<16xf32>
// CHECK: llvm.br [[HEADER]](
// CHECK: llvm.cond_br
// CHECK: llvm.intr.masked.load
// CHECK-NOT: func.call

// A line of the text is a string; none is lost.
// TEXT: tess.kernel @add {
// TEXT-NEXT: {{^  *}}"kernel parallel=1 reduced=0 lanes=parallel attrs=0"
// TEXT-NEXT: "o0 = input f32 contiguous"
// TEXT-NEXT: "o1 = output f32 contiguous"
// TEXT-NEXT: "n0 = load o0 : f32"
// TEXT-NEXT: "n1 = add n0 n0 : f32"
// TEXT-NEXT: "store n1 o1"
// TEXT-NEXT: }
tess.kernel @add {
  "kernel parallel=1 reduced=0 lanes=parallel attrs=0"
  "o0 = input f32 contiguous"
  "o1 = output f32 contiguous"
  "n0 = load o0 : f32" "n1 = add n0 n0 : f32"
  "store n1 o1"
}

// -----

// expected-error @+1 {{kernel: line 2 must have input or output, got 5}}
tess.kernel @text { "kernel parallel=1 reduced=0 lanes=parallel attrs=0" "o0 = 5" }

// -----

// expected-error @+1 {{kernel: a kernel must store something, got no store}}
tess.kernel @nothing { "kernel parallel=1 reduced=0 lanes=parallel attrs=0" }
