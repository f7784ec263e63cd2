#!/usr/bin/env bash
# Proves that this tree can be released: publishes a copy as docs/releasing.md
# says, into a module proxy made of files, and installs the program and an example
# of the SDK from there, without the source.
set -euo pipefail
cd "$(dirname "$0")/.."
sdk=github.com/parley-mcp/parley
version=v0.1.0 # any version will do

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p .tmp/bin "$tmp/copy" "$tmp/empty"
(cd tools && GOBIN="$PWD/../.tmp/bin" go install ./modproxy)
modproxy=$PWD/.tmp/bin/modproxy

# Files that are not committed yet are included.
git ls-files -z --cached --others --exclude-standard |
	while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
	tar -c --null -T - | tar -x -C "$tmp/copy"

# The module cache is a new one, because the same version has different content
# each time. The real one serves as a proxy, so that nothing is downloaded twice.
GOPROXY="file://$tmp/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
GONOSUMDB="$(go env GONOSUMDB),github.com/parley-mcp"
GOFLAGS="$(go env GOFLAGS) -mod=mod -modcacherw -trimpath"
export GOPROXY GONOSUMDB GOFLAGS GOMODCACHE="$tmp/modcache" GOBIN="$tmp/bin" CGO_ENABLED=0

"$modproxy" -proxy "$tmp/proxy" -module "$sdk" -version "$version" "$tmp/copy"
"$tmp/copy/tools/release.sh" "$version"
"$modproxy" -proxy "$tmp/proxy" -module "$sdk/cmd/parley" -version "$version" "$tmp/copy/cmd/parley"

cd "$tmp/empty"
go install "$sdk/cmd/parley@latest"
go install "$sdk/examples/greeter@latest"
said=$("$GOBIN/parley" version)
echo "$said"
if [ "${said%%$'\n'*}" != "parley $version" ]; then
	echo "parley reports a version other than $version"
	exit 1
fi
"$GOBIN/parley" call greet name=Ann -- "$GOBIN/greeter"
