#!/bin/sh
echo "coverage: the coverage tools must be installed, got a stand-in" >&2
exit 1
