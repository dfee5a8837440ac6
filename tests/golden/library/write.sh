#!/bin/bash
# usage: bazel run //tests/golden/library:write -- VERSION   Starts in the runfiles, which hold the package as one tree.
export PYTHONPATH=frontends/python:.
export TESS_SAMPLES=ops/samples.json
exec ../python/py.sh tests/golden/library/write.py "$BUILD_WORKSPACE_DIRECTORY/tests/golden/library/$1" tests/golden/library/libbrought.so
