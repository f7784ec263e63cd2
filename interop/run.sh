#!/usr/bin/env bash
# Runs both interoperability suites and sums up their results; see README.md.
set -euo pipefail

# Relative to where the caller is, not to this folder.
if [ -n "${PARLEY:-}" ]; then
  PARLEY=$(realpath "$PARLEY")
fi

cd "$(dirname "${BASH_SOURCE[0]}")"

if [ -z "${PARLEY:-}" ]; then
  (cd .. && mkdir -p .tmp && go build -o .tmp/parley ./cmd/parley)
  PARLEY=$(realpath ../.tmp/parley)
fi
export PARLEY

passed=0
failed=0
for suite in typescript servers; do
  # npm writes this copy of the lock file last: when it is missing or older than
  # the lock file, the packages are missing, incomplete or outdated.
  if [ ! "$suite/node_modules/.package-lock.json" -nt "$suite/package-lock.json" ]; then
    (cd "$suite" && npm ci --loglevel=error)
  fi
  printf '\n== %s\n\n' "$suite"
  output=$(mktemp)
  status=0
  node "$suite/run.mjs" | tee "$output" || status=$?
  if [[ "$(tail -n 1 "$output")" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    # No failure counted and yet not a success: nothing was run at all.
    if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then
      failed=$((failed + 1))
    fi
  else
    echo "the suite $suite did not get to its summary (exit code $status)"
    failed=$((failed + 1))
  fi
  rm -f "$output"
done

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
