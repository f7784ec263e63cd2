#!/usr/bin/env bash
# Makes cmd/parley/go.mod releasable: go install refuses a module with a replace,
# so the replace is dropped and the release of the SDK required, which must be
# published already. See docs/releasing.md.
#
#   release.sh vX.Y.Z
set -euo pipefail
version=${1:?usage: release.sh vX.Y.Z}
cd "$(dirname "$0")/../cmd/parley"
sdk=github.com/parley-mcp/parley
export GOWORK=off
go mod edit -dropreplace="$sdk" -require="$sdk@$version"
go mod download "$sdk"
go mod tidy -e # see the Makefile
go build -mod=readonly -o /dev/null .
echo "cmd/parley requires $sdk $version"
