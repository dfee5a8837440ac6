#!/bin/bash
# usage: listener_test.sh FIXTURE   Each TEST_CASE must be one case of the XML, with its failure or skip reason.
xml=$TEST_TMPDIR/out.xml
XML_OUTPUT_FILE=$xml TEST_TARGET=//fixture "$1" > "$TEST_TMPDIR/log" && { echo "listener_test: the fixture must fail, got 0"; exit 1; }
cat "$xml"
expect() { [ "$(grep -c -- "$1" "$xml")" = 1 ] || { echo "listener_test: the XML must have one line '$1', got the above"; exit 1; }; }
expect 'name="passes &lt;&amp;&gt;" time="[0-9.]*"></testcase>'
expect 'name="fails" time="[0-9.]*"><failure message="tools/bazel/catch2/fixture.cpp:9: 1 + 1 == 3 "/>'
expect 'name="throws" time="[0-9.]*"><failure message=".*boom"/>'
expect 'name="is skipped" time="[0-9.]*"><skipped message="no device"/>'
[ "$(grep -c '<testcase' "$xml")" = 4 ] || { echo "listener_test: the XML must have 4 cases, got the above"; exit 1; }
