#!/usr/bin/env bash
# Runs all interoperability suites and sums up their results; see README.md.
set -euo pipefail

# PARLEY is relative to the caller's folder, not to this one.
if [ -n "${PARLEY:-}" ]; then
  PARLEY=$(realpath "$PARLEY")
fi

cd "$(dirname "${BASH_SOURCE[0]}")"

if [ -z "${PARLEY:-}" ]; then
  (cd .. && mkdir -p .tmp && go build -o .tmp/parley ./cmd/parley)
  PARLEY=$(realpath ../.tmp/parley)
fi
export PARLEY

install_npm() {
  # npm writes this copy of the lock file last: when it is missing or older than
  # the lock file, the packages are missing, incomplete or outdated.
  if [ ! "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]; then
    (cd "$1" && npm ci --loglevel=error)
  fi
}

# Each version has its own virtual environment; the file "installed" is written last.
install_python() {
  local requirements name venv
  for requirements in python/requirements/*.txt; do
    name=$(basename "$requirements" .txt)
    venv=python/.venv/$name
    if [ ! "$venv/installed" -nt "$requirements" ]; then
      rm -rf "$venv"
      "${PYTHON:-python3}" -m venv "$venv"
      "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
      touch "$venv/installed"
    fi
  done
}

install_go() {
  mkdir -p ../.tmp && (cd go && GOWORK=off go build -o ../../.tmp/interop-go .)
}

install_nginx() {
  if ! command -v nginx >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx >/dev/null
  fi
}

# Google's own build and the packages of other systems have other names.
install_chromium() {
  local name
  if [ -n "${CHROMIUM:-}" ]; then return; fi
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return; fi
  done
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
  fi
}

java_versions() {
  local pom
  for pom in java/pom-*.xml; do
    pom=${pom#java/pom-}
    echo "${pom%.xml}"
  done
}

# One source is compiled against each version; Maven only fetches the packages.
fetch_java() {
  local version pom built
  for version in $(java_versions); do
    pom=java/pom-$version.xml
    built=../.tmp/interop-java/$version
    if [ "$built/fetched" -nt "$pom" ]; then continue; fi
    rm -rf "$built"
    mkdir -p "$built"
    timeout 300 mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$(realpath "$built")/lib" || return 1
    touch "$built/fetched"
  done
}

install_java() {
  local version built
  for version in $(java_versions); do
    built=../.tmp/interop-java/$version
    rm -rf "$built/classes"
    javac -XDsuppressNotes -d "$built/classes" -cp "$built/lib/*" java/src/*.java
  done
}

# fetch gets the packages of the suites whose registries may be out of reach where
# those of the others are not.
fetch() {
  case $1 in
  java) fetch_java ;;
  rust) (cd rust && timeout 300 cargo fetch --quiet) ;;
  esac
}

# missing names a program that a suite needs and that this script does not install.
missing() {
  local program needs=""
  case $1 in
  java) needs="java javac mvn" ;;
  rust | site) needs=cargo ;;
  esac
  for program in $needs; do
    if ! command -v "$program" >/dev/null; then echo "$program"; return; fi
  done
}

install() {
  case $1 in
  typescript | servers) install_npm "$1" ;;
  tasks)
    install_npm tasks
    install_python
    mkdir -p ../.tmp && (cd .. && go build -o .tmp/interop-tasks ./interop/tasks/ours)
    ;;
  bridge) install_npm typescript ;;
  gateway)
    install_npm typescript
    install_npm servers
    install_python
    install_go
    if [ -z "$(missing rust)" ] && fetch rust; then install rust; fi
    ;;
  python | skills) install_python ;;
  go) install_go ;;
  host)
    install_npm host
    mkdir -p ../.tmp && (cd host && GOWORK=off go build -o ../../.tmp/interop-host .)
    ;;
  java) install_java ;;
  rust) (cd rust && cargo build --quiet --target-dir ../../.tmp/interop-rust) ;;
  nginx) install_nginx ;;
  auth)
    install_npm auth
    install_python
    install_chromium
    ;;
  login)
    install_npm auth
    install_chromium
    ;;
  apps)
    install_npm apps
    install_chromium
    ;;
  page)
    install_npm page
    install_npm servers
    install_npm auth
    install_chromium
    ;;
  site)
    install_npm page
    install_chromium
    make --silent -C .. docs >/dev/null
    ;;
  esac
}

# failures keeps the marks of what failed, with what is said of each, for the end: what
# one of three thousand checks said is found there.
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

passed=0
failed=0
not_run=""
for suite in typescript bridge gateway servers python go host java rust tasks nginx auth login apps page site skills check; do
  program=$(missing "$suite")
  if [ -n "$program" ]; then
    not_run+="not run: $suite, because there is no $program"$'\n'
    continue
  fi
  if ! fetch "$suite"; then
    not_run+="not run: $suite, because its packages cannot be fetched"$'\n'
    continue
  fi
  # Not in a condition, because that would disable errexit inside.
  install "$suite"
  printf '\n== %s\n\n' "$suite"
  options=()
  if [ "$suite" = page ]; then
    rm -rf ../.tmp/shots/page # of a run before, which may have had other views
    options=(--shots ../.tmp/shots/page)
  fi
  output=$(mktemp)
  status=0
  node "$suite/run.mjs" ${options[@]+"${options[@]}"} | tee "$output" || status=$?
  awk -v suite="$suite" '/^✗/ { print suite ": " $0; more = 1; next } /^ / && more { print; next } { more = 0 }' "$output" >>"$failures"
  if [[ "$(tail -n 1 "$output")" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    # No failure was counted, but the suite did not succeed: it did not run at all.
    if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then
      echo "$suite: nothing failed, but it ended with exit code $status" | tee -a "$failures"
      failed=$((failed + 1))
    fi
  else
    echo "$suite: did not get to its summary (exit code $status)" | tee -a "$failures"
    failed=$((failed + 1))
  fi
  rm -f "$output"
done

echo
if [ -s "$failures" ]; then
  printf 'What failed, again:\n\n'
  cat "$failures"
  echo
fi
printf '%s' "$not_run"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
