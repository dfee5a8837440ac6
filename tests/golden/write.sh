#!/bin/bash
# usage: bazel run //tests/golden:write -- VERSION   Starts in the runfiles, which hold the package as one tree.
export PYTHONPATH=frontends/python:.
export TESS_SAMPLES=ops/samples.json
exec ../python/py.sh tests/golden/write.py "$BUILD_WORKSPACE_DIRECTORY/tests/golden/$1"
