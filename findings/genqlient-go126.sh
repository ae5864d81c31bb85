#!/usr/bin/env bash
# genqlient 0.8.1 does not compile with Go 1.26: it requires golang.org/x/tools v0.24.0, whose `internal/tokeninternal` measures a type of
# the standard library at compile time, and that type has grown. `go get golang.org/x/tools@v0.52.0` in the module that runs it helps.
# Needs Go 1.26.
# Seen: `invalid array length -delta * delta (constant -256 of type int64)`, then a generated client.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
go version | grep -q ' go1\.26'
printf 'module finding\n\ngo 1.26\n' >go.mod
echo 'type Query { hello: String! }' >schema.graphql
echo 'query Hello { hello }' >operations.graphql
printf 'schema: schema.graphql\noperations: [operations.graphql]\ngenerated: generated.go\npackage: finding\n' >genqlient.yaml
go get github.com/Khan/genqlient@v0.8.1 >get.log 2>&1
go run github.com/Khan/genqlient genqlient.yaml >run.log 2>&1 && { echo "changed: it compiles"; exit 1; }
cat run.log
grep -qF 'invalid array length -delta * delta' run.log
go get golang.org/x/tools@v0.52.0 >>get.log 2>&1
go run github.com/Khan/genqlient genqlient.yaml
grep -q 'func Hello(' generated.go
echo "as stated: genqlient 0.8.1, $(go version)"
