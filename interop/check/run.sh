#!/usr/bin/env bash
# Judges other people's servers and clients with `parley check`; see README.md.
set -euo pipefail

usage() {
  echo "usage: run.sh [--quick] [--expected] [--official] [--prove] [--page] [--role server|client] [--transport stdio|http|sse] [PEER...]" >&2
  exit 2
}

quick="" expected="" official="" prove="" page="" role="" transport="" peers=()
while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=1 ;;
  --expected) expected=1 ;;
  --official) official=1 role=server transport=http ;;
  --prove) prove=1 ;;
  --page) page=1 ;;
  --role) role=${2:?$(usage)} && shift ;;
  --transport) transport=${2:?$(usage)} && shift ;;
  -*) usage ;;
  *) peers+=("$1") ;;
  esac
  shift
done

if [ -n "${PARLEY:-}" ]; then
  PARLEY=$(realpath "$PARLEY")
fi
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(realpath ../..)
built=$root/.tmp
reports=$built/check-peers
mkdir -p "$reports"
if [ -z "${PARLEY:-}" ]; then
  PARLEY=$built/parley
  (cd "$root" && go build -o "$PARLEY" ./cmd/parley)
fi

# What runs in CI: what npm and Go install in seconds, in both roles and eras.
quick_peers=" sdk-1.32 sdk-2 go-sdk "

install_npm() {
  if [ ! typescript/node_modules/.package-lock.json -nt typescript/package-lock.json ]; then
    (cd typescript && npm ci --loglevel=error)
  fi
}

# The environments are those of ../run.sh; the file "installed" is written last.
install_python() {
  local name venv
  for name in mcp-1.30.0 mcp-2.3.0 fastmcp-4.1.2; do
    venv=../python/.venv/$name
    if [ ! "$venv/installed" -nt "../python/requirements/$name.txt" ]; then
      rm -rf "$venv"
      "${PYTHON:-python3}" -m venv "$venv"
      "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "../python/requirements/$name.txt"
      touch "$venv/installed"
    fi
  done
}

install_go() { (cd go && GOWORK=off go build -o "$built/check-go" .); }

# The program of ../rust has what is judged as well: its dependencies take a minute to build.
install_rust() { (cd ../rust && cargo build --quiet --target-dir "$built/interop-rust"); }

install_java() {
  local java=$built/interop-java/2.1.0 pom=../java/pom-2.1.0.xml
  if [ ! "$java/fetched" -nt "$pom" ]; then
    rm -rf "$java" && mkdir -p "$java"
    timeout 300 mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$java/lib"
    touch "$java/fetched"
  fi
  javac -XDsuppressNotes -d "$java/check" -cp "$java/lib/*" java/*.java
}

# ready installs what a row needs, once; its state is "yes" or "no".
declare -A state
ready() {
  local program
  if [ -z "${state[$1]:-}" ]; then
    state[$1]=yes
    case $1 in
    rust) program=cargo ;;
    java) program=mvn ;;
    npm | go) program=$1 ;;
    python) program=${PYTHON:-python3} ;;
    esac
    if ! command -v "$program" >/dev/null; then
      echo "not run: what needs $1, because there is no $program"
      state[$1]=no
    elif ! (set -e; "install_$1") >"$reports/install-$1.log" 2>&1; then
      echo "not run: what needs $1, because it cannot be installed; see $reports/install-$1.log"
      state[$1]=no
    fi
  fi
  [ "${state[$1]}" = yes ]
}

# The official suite is that of ../../conformance.
if [ -n "$official" ]; then
  if [ ! ../../conformance/node_modules/.package-lock.json -nt ../../conformance/package-lock.json ]; then
    (cd ../../conformance && npm ci --loglevel=error)
  fi
  modules=$root/conformance/node_modules
  suite=("$modules/node/bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js")
fi

# Peers are told their port in the environment: not all say where they listen.
free_port() { node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

background=""
stop() {
  [ -z "$background" ] || kill -- "-$background" 2>/dev/null || true
  background=""
}
trap stop EXIT

# start runs a server in a process group of its own, and waits until it listens.
start() {
  local port=$1 log=$2
  shift 2
  PORT=$port setsid "$@" >"$log" 2>&1 &
  background=$!
  for _ in $(seq 100); do
    if listens "$port"; then return; fi
    if ! kill -0 "$background" 2>/dev/null; then break; fi
    sleep 0.2
  done
  echo "it does not listen: $(tail -n 3 "$log")"
  return 1
}

path_of() { if [ "$1" = sse ]; then echo /sse; else echo /mcp; fi; }

# judge_server writes a report of one server. Its data are its own: every tool may be called.
judge_server() {
  local how=$1 report=$2 status=0 port
  shift 2
  local target=(-- "$@")
  if [ "$how" != stdio ]; then
    port=$(free_port)
    start "$port" "$report.log" "$@" || return 3
    target=("http://127.0.0.1:$port$(path_of "$how")")
  fi
  if [ -n "$prove" ]; then
    prove_server "${target[@]}" || status=$?
  elif [ -n "$official" ]; then
    rm -rf "$report.official"
    timeout 120 "${suite[@]}" server --url "${target[0]}" -o "$report.official" >"$report.err" 2>&1 || true # its results say more
  else
    timeout 600 "$PARLEY" check --allow-all --output json "${target[@]}" >"$report.json" 2>"$report.err" || status=$?
  fi
  stop
  return "$status"
}

# prove_server shows that the client of parley gets along with a server.
prove_server() {
  local before=() found sum
  if [ "$1" != -- ]; then before=("$1") && shift; fi
  found=$(timeout 60 "$PARLEY" list "${before[@]}" "$@" 2>&1) || { echo "$found" | tail -n 2 && return 3; }
  if [[ $found != *remember* ]]; then return 0; fi
  sum=$(timeout 60 "$PARLEY" call "${before[@]}" add a:=40 b:=2 "$@" 2>&1) || { echo "$sum" | tail -n 2 && return 3; }
  [[ $sum == *42* ]] || { echo "40 + 2 is $sum" && return 3; }
}

# judge_client writes a report of one client, or proves it with `parley serve`.
judge_client() {
  local how=$1 report=$2 status=0 port word words=()
  shift 2
  if [ -n "$prove" ]; then
    local place=(-- "$PARLEY" serve --stdio)
    if [ "$how" != stdio ]; then
      port=$(free_port)
      start "$port" "$report.log" "$PARLEY" serve --http "127.0.0.1:$port" || return 3
      place=("http://127.0.0.1:$port$(path_of "$how")")
    fi
    for word in "$@"; do
      if [ "$word" = "{server}" ]; then words+=("${place[@]}"); else words+=("$word"); fi
    done
    timeout 60 "${words[@]}" >"$report.out" 2>"$report.err" || status=$?
    stop
    # It has to have got through everything: what follows is to close.
    grep -q '"call".*"unsubscribe"' "$report.out" || { echo "it got to: $(cat "$report.out")" && return 3; }
    return "$status"
  fi
  for word in "$@"; do
    if [ "$word" != "{server}" ]; then words+=("$word"); continue; fi
    if [ "$how" = stdio ]; then words+=(-- "{command}"); else words+=("{url}"); fi
  done
  # The drivers share nothing, and mostly wait.
  timeout 900 "$PARLEY" check client --at-once "$(nproc)" --output json -- "${words[@]}" >"$report.json" 2>"$report.err" || status=$?
  return "$status"
}

chosen() {
  local peer
  if [ -n "$role" ] && [ "$role" != "$2" ]; then return 1; fi
  if [ -n "$transport" ] && [ "$transport" != "$3" ]; then return 1; fi
  if [ -n "$quick" ]; then
    [ "$3" != sse ] && [[ $quick_peers == *" $1 "* ]]
    return
  fi
  if [ ${#peers[@]} -eq 0 ]; then return 0; fi
  for peer in "${peers[@]}"; do
    if [ "$peer" = "$1" ]; then return 0; fi
  done
  return 1
}

# A client is judged over HTTP in each revision by its transport, so with HTTP+SSE in the first.
judged_over_http() {
  [ -z "$prove" ] && [ "$2" = client ] && [ "$3" = sse ] && grep -q "^$1	.*	client	http	" peers.tsv
}

passed=0 failed=0 judged=()
while IFS=$'\t' read -r peer version _ needs side how _ command; do
  if [[ $peer == "#"* ]] || ! chosen "$peer" "$side" "$how" || judged_over_http "$peer" "$side" "$how"; then continue; fi
  if ! ready "$needs"; then continue; fi
  name=$peer.$side.$how
  scratch=$built/check-scratch/$name
  rm -rf "$scratch" && mkdir -p "$scratch"
  echo "a file" >"$scratch/a.txt"
  command=${command//"{built}"/$built}
  command=${command//"{scratch}"/$scratch}
  set -f # an asterisk is for Java
  # shellcheck disable=SC2086 # the words of a command are separated by blanks
  set -- $command
  set +f
  rm -f "$reports/$name".{out,log,err}
  if [ -z "$official" ]; then rm -f "$reports/$name.json"; fi
  status=0
  "judge_$side" "$how" "$reports/$name" "$@" >"$reports/$name.why" </dev/null || status=$?
  # 0 and 1 are verdicts; anything else says that there is none.
  if [ "$status" -le 1 ]; then
    passed=$((passed + 1))
    judged+=("$name")
    echo "ok    $name $version"
    rm -f "$reports/$name.why"
  else
    failed=$((failed + 1))
    echo "FAIL  $name $version (exit code $status): $(tail -n 2 "$reports/$name.why" "$reports/$name.err" 2>/dev/null | tr '\n' ' ')"
  fi
done <peers.tsv

if [ -n "$expected" ] && [ ${#judged[@]} -gt 0 ] && ! node expected.mjs "$reports" "${judged[@]}"; then
  failed=$((failed + 1))
fi

if [ -n "$official" ]; then
  node official.mjs "$reports" "${judged[@]}" >"$root/docs/check-official.md.new" || failed=$((failed + 1))
  mv "$root/docs/check-official.md.new" "$root/docs/check-official.md"
fi

if [ -n "$page" ]; then
  (cd "$root" && go run ./interop/check/page -peers interop/check/peers.tsv -verified interop/check/verified.tsv -reports "$reports" >docs/check-peers.md.new)
  mv "$root/docs/check-peers.md.new" "$root/docs/check-peers.md"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
