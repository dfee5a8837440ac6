#!/bin/sh
# usage: forbidden_dep_is_found_test.sh CHECK PATHS   CHECK must fail on PATHS and print the path.
"$1" "$2" > "$TEST_TMPDIR/log" && { echo "forbidden_dep: the check must fail, got 0"; exit 1; }
cat "$TEST_TMPDIR/log"
grep -qx "  @llvm//:codegen" "$TEST_TMPDIR/log"
