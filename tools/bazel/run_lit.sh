#!/bin/bash
# usage: run_lit.sh FILE TOOL...   Runs the RUN lines of FILE with the tools on PATH, in order, until one fails.
# %s is the file, %S its folder, %t a scratch path. Writes one JUnit case for each part between `// -----` lines when the
# RUN lines split the input, else one; a failing file is one failing case, because its parts share the RUN line.
set -u -o pipefail
src=$1 tmp=$(mktemp -d "${TEST_TMPDIR:-/tmp}/lit.XXXXXX"); shift
mkdir "$tmp/bin"
for tool in "$@"; do ln -s "$PWD/$tool" "$tmp/bin/"; done
export PATH=$tmp/bin:$PATH

run_lines() { sed -nE -e ':join' -e '/RUN:.*\\$/{N;s@\\\n[[:space:]]*(//|#)[[:space:]]*RUN:@@;b join' -e '}' \
  -e 's@^[[:space:]]*(//|#|;)[[:space:]]*RUN:[[:space:]]*@@p' "$src"; }
expand() { local line=${1//%s/$src}; line=${line//%S/$(dirname "$src")}; echo "${line//%t/$tmp/t}"; }

case_xml() { printf '  <testcase classname="%s" name="%s">%s</testcase>\n' "${TEST_TARGET:-lit}" "$1" "${2:-}"; }
write_xml() { [ -n "${XML_OUTPUT_FILE:-}" ] && { echo '<testsuites><testsuite name="lit">'; cat; echo '</testsuite></testsuites>'; } > "$XML_OUTPUT_FILE"; }

lines=$(run_lines)
[ -n "$lines" ] || { echo "run_lit: a test must have a RUN line, got none in $src"; exit 1; }
while IFS= read -r line; do
  line=$(expand "$line"); echo "+ $line"
  bash -o pipefail -c "$line" < /dev/null || {
    case_xml "$(basename "$src")" '<failure message="a RUN line failed; see the log"/>' | write_xml; exit 1; }
done <<< "$lines"
parts=1; grep -q -- 'split-input-file' <<< "$lines" && parts=$(($(grep -c '^// -----' "$src") + 1))
for part in $(seq "$parts"); do case_xml "$(basename "$src") part $part"; done | write_xml
exit 0
