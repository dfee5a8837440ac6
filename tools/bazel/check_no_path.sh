#!/bin/sh
# usage: check_no_path.sh FILE   FILE is a genquery's answer: the targets of a forbidden dependency path, or nothing.
[ ! -s "$1" ] && exit 0
echo "${TEST_TARGET}: there must be no such dependency, got the path"
sed 's/^/  /' "$1"
exit 1
