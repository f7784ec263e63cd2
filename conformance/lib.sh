# What the scripts here share.

# start WHAT LOG COMMAND...: starts a server in the background, and waits until
# it has logged its URL. Sets $server to its process ID and $url to the URL.
start() {
  local what=$1 log=$2
  shift 2
  : >"$log" # sed needs the file to exist
  "$@" 2>>"$log" &
  server=$!
  url=
  for _ in $(seq 100); do
    url=$(sed -n 's/.*msg=serving url=//p' "$log")
    if [ -n "$url" ] || ! kill -0 "$server" 2>/dev/null; then
      break
    fi
    sleep 0.1
  done
  if [ -z "$url" ]; then
    cat "$log"
    echo "$what did not start"
    return 1
  fi
}
