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
old=$(mktemp -d)
trap 'git worktree remove --force "$old" 2>/dev/null || true; rm -rf "$old"' EXIT
git worktree add --quiet --detach "$old" "$tag"
(cd "$old" && "$OLDPWD/.tmp/bin/apidiff" -m -w "$OLDPWD/.tmp/old.api" github.com/parley-mcp/parley)
diff=$(.tmp/bin/apidiff -m -incompatible .tmp/old.api github.com/parley-mcp/parley | grep -v '/internal/' || true)
[ -z "$diff" ] && { echo "compatible with $tag"; exit 0; }
echo "$diff"
if sed -n '/^## Unreleased/,/^## /p' CHANGELOG.md | grep -q '^### Incompatible'; then
	exit 0
fi
echo "incompatible with $tag, and CHANGELOG.md does not say so"
exit 1
