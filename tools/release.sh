#!/usr/bin/env bash
# Makes cmd/parley/go.mod one that can be released: what go install is to take
# must not have a replace, so it requires the release of the SDK instead, which
# has to be there already. See docs/releasing.md.
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
