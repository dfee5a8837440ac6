#!/bin/sh
# run_examples.sh TRAIN_MLP TRAIN.csv HELD_OUT.csv [RUN_DIGITS]: trains and dumps, then runs the file without a compiler.
set -e
"$1" "$2" "$3" "$TEST_TMPDIR/digits.tess" "$TEST_TMPDIR/digits.logits"
if [ -n "$4" ]; then
  "$4" "$TEST_TMPDIR/digits.tess" "$3" "$TEST_TMPDIR/digits.logits"
fi
