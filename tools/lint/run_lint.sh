#!/bin/sh
# usage: run_lint.sh LINT   Runs tools/lint/LINT.py over the checkout.
export PYTHONPATH="$TEST_SRCDIR/$TEST_WORKSPACE" PYTHONDONTWRITEBYTECODE=1
exec "$TEST_SRCDIR/python/py.sh" -m "tools.lint.$1"
