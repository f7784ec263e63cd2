#!/usr/bin/env bash
# Runs the suite against the authorization server for development, in each
# revision. run.sh runs this script, and judges the results:
#
#   authorization.sh TMP
#
# TMP is where the results and the logs go.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
. ./lib.sh
tmp=$1
mkdir -p "$tmp/results" "$tmp/logs"

server=
running=
cleanup() {
  for pid in $running $server; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
trap cleanup EXIT
trap 'exit 130' INT TERM

CGO_ENABLED=0 go build -o "$tmp/parley" ../cmd/parley
start "the authorization server" "$tmp/logs/authserver.log" "$tmp/parley" serve --http 127.0.0.1:0 --auth dev --user ada:lovelace

for revision in 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
  name=authorization-all-$revision
  timeout --kill-after=5 60 node_modules/node/bin/node authorization.mjs \
    node_modules/@modelcontextprotocol/conformance/dist/index.js "${url%/mcp}" "$url" "$tmp/results/$name" "$revision" \
    >"$tmp/logs/$name.log" 2>&1 &
  running=$!
  wait "$running" || true
  running=
done

kill "$server"
if ! wait "$server"; then
  echo "the authorization server did not end cleanly: see logs/authserver.log"
  server=
  exit 1
fi
server=
