#!/bin/bash
# usage: run_pytest.sh [NAME=VALUE...] -- FILE... [pytest options]   In the runfiles, sources, generated files and the
# extension of the package lie in one tree: that tree is the path.
set -u
# shellcheck disable=SC2163  # the argument is NAME=VALUE
while [ "$1" != "--" ]; do export "$1"; shift; done
shift
root=$TEST_SRCDIR/$TEST_WORKSPACE
export PYTHONPATH=$root/frontends/python:$root HOME=$TEST_TMPDIR MPLBACKEND=Agg
export PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1
exec "$TEST_SRCDIR/python/py.sh" -m pytest --rootdir="$root" --junitxml="$XML_OUTPUT_FILE" \
  -p no:cacheprovider --import-mode=importlib --basetemp="$TEST_TMPDIR/pytest" -q -rs "$@"
