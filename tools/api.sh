#!/usr/bin/env bash
# Compares the exported API of the SDK with that of its last tag. Incompatible
# changes have to be named in CHANGELOG.md under "Incompatible".
set -euo pipefail
cd "$(dirname "$0")/.."
tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [ -z "$tag" ]; then
	echo "no tag yet: there is no API to compare with"
	exit 0
fi
mkdir -p .tmp/bin
(cd tools && GOBIN="$PWD/../.tmp/bin" go install golang.org/x/exp/cmd/apidiff)
apidiff=$PWD/.tmp/bin/apidiff
old=$(mktemp -d)
trap 'git worktree remove --force "$old" 2>/dev/null || true; rm -rf "$old"' EXIT
git worktree add --quiet --detach "$old" "$tag"

# The packages of the SDK in a folder that others can import.
packages() {
	(cd "$1" && go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./... | grep -v /internal/)
}

# Package by package: apidiff can no longer write a whole module (golang/go#69573).
here=$(packages .)
incompatible=
for package in $(packages "$old"); do
	if ! grep -qx "$package" <<<"$here"; then
		incompatible+="$package: removed"$'\n'
		continue
	fi
	(cd "$old" && "$apidiff" -w "$old/old.api" "$package")
	changes=$("$apidiff" -incompatible "$old/old.api" "$package")
	[ -z "$changes" ] || incompatible+="$package:"$'\n'"$changes"$'\n'
done
if [ -z "$incompatible" ]; then
	echo "compatible with $tag"
	exit 0
fi
printf '%s' "$incompatible"
if sed -n '/^## Unreleased/,/^## /p' CHANGELOG.md | grep -q '^### Incompatible'; then
	exit 0
fi
echo "incompatible with $tag, and CHANGELOG.md does not say so"
exit 1
