#!/bin/bash
# usage: same_text.sh GENERATED GOLDEN   Fails with the difference, and with the line that takes it over.
diff -u "$2" "$1" && exit 0
echo "The public surface changed. If it should: cp bazel-bin/$1 $2"
exit 1
