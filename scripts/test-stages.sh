#!/bin/sh
# Runs the stages of `make test`, each a target of the Makefile. A stage that fails fails the run, but the others still
# run and report. Each prints its seconds. The stage of the Rust tests comes last, so that the closing line of its runner
# closes the run.
set -u
failed=""

for stage in "$@"; do
  begun=$(date +%s)
  [ "$stage" != test-rust ] || [ -z "$failed" ] || echo "== failed before the Rust tests:$failed" >&2
  if "${MAKE:-make}" --no-print-directory "$stage"; then
    [ "$stage" = test-rust ] || echo "== $stage: ok, $(($(date +%s) - begun)) s"
  else
    failed="$failed $stage"
    echo "== $stage: FAILED, $(($(date +%s) - begun)) s" >&2
  fi
done

[ -z "$failed" ] || exit 1
