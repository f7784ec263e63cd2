#!/usr/bin/env bash
# Runs the benchmarks of this tree and of main, and compares them.
# BENCH is a pattern that selects benchmarks, COUNT how often each runs (default 6).
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .tmp/bin
(cd tools && GOBIN="$PWD/../.tmp/bin" go install golang.org/x/perf/cmd/benchstat)
run() { (cd "$1" && go test -run '^$' -bench "${BENCH:-.}" -benchmem -count "${COUNT:-6}" ./...) | grep -E '^(Benchmark|goos|goarch|pkg|cpu)' ; }
base=$(mktemp -d)
trap 'git worktree remove --force "$base" 2>/dev/null || true; rm -rf "$base"' EXIT
git worktree add --quiet --detach "$base" main
run "$base" >.tmp/bench-main.txt || true
run . >.tmp/bench-here.txt
.tmp/bin/benchstat .tmp/bench-main.txt .tmp/bench-here.txt
