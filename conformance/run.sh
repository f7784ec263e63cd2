#!/usr/bin/env bash
# Runs the official conformance suite in every selection that applies, as a
# client of one server, as a server of many clients, and as an authorization
# server; see README.md.
#
#   run.sh            judge the results
#   run.sh -update    update the numbers in counts.json from the results
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
. ./lib.sh
tmp=$(realpath -m ../.tmp/conformance)
rm -rf "$tmp"
mkdir -p "$tmp/results" "$tmp/logs"

# npm writes this copy of the lock file last: when it is missing or older than
# the lock file, the packages are missing, incomplete or outdated. The suite
# needs Node 22, which is one of them.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --loglevel=error
fi
suite=("$PWD/node_modules/node/bin/node" "$PWD/node_modules/@modelcontextprotocol/conformance/dist/index.js")

# Built once: the suite starts up to forty clients at a time.
for program in server client check; do
  CGO_ENABLED=0 go build -o "$tmp/$program" "./$program"
done

server=
running=
cleanup() {
  # Ends whatever is left, also after a failure; a process that has already ended
  # must not end the cleanup.
  for pid in $running $server; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if ! start "the server" "$tmp/logs/server.log" "$tmp/server" -http localhost:0; then
  echo "0 passed, 1 failed"
  exit 1
fi

# run ROLE SELECTION REVISION ARGUMENT...: runs the suite once. Its exit code says
# less than its results, which are judged at the end.
run() {
  local name="$1-$2-$3" role=$1
  shift 3
  # In the background, so that a signal does not have to wait for it.
  timeout --kill-after=5 90 "${suite[@]}" "$role" "$@" -o "$tmp/results/$name" >>"$tmp/logs/$name.log" 2>&1 &
  running=$!
  wait "$running" || true
  running=
}

for role in server client; do
  # exec, because the suite ends only the shell of a client that hangs.
  target=(--url "$url")
  if [ "$role" = client ]; then
    target=(--command "exec timeout 25 '$tmp/client'")
  fi
  for revision in 2025-11-25 2026-07-28; do
    run "$role" requirements "$revision" "${target[@]}" --requirements "$revision"
  done
  for revision in 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
    run "$role" all "$revision" "${target[@]}" --suite all --spec-version "$revision"
  done
  # No selection of the suite has the scenarios of skills for a revision.
  scenarios=(sep-2640-skills-{enumeration,manifest,directory})
  if [ "$role" = client ]; then
    scenarios=(sep-2640-client-{no-prefetch,verify-digest,verify-size,verify-frontmatter})
  fi
  for scenario in "${scenarios[@]}"; do
    run "$role" named 2026-07-28 "${target[@]}" --scenario "$scenario" --spec-version 2026-07-28 --force
  done
done

# One server has served all of these runs; it has to end cleanly, too.
kill "$server"
fault=()
if ! wait "$server"; then
  fault=(-fault "the server did not end cleanly: see logs/server.log")
fi
server=

# The script itself reports what is wrong.
./authorization.sh "$tmp" &
running=$!
if ! wait "$running"; then
  fault+=(-fault "the authorization server: see above, and logs/authserver.log")
fi
running=

"$tmp/check" "$@" "${fault[@]}" "$tmp/results"
