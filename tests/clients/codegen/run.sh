#!/usr/bin/env bash
# run.sh NODE: GraphQL Code Generator under the binary NODE against $WEIR_URL, then the generated code, compiled and run.
set -euo pipefail
cd "$(dirname "$0")"
node=$1
# Below this folder, so that its packages are found.
out=$(mktemp -d ./out.XXXXXX)
trap 'rm -rf "$out"' EXIT
failed() { echo "$1 on Node $("$node" --version): 0 passed, 1 failed"; exit 1; }
WEIR_OUT=$out "$node" node_modules/.bin/graphql-codegen --config codegen.mjs --silent || failed codegen
cp usage.ts ../checks.mjs "$out/"
echo '{"type":"module"}' >"$out/package.json"
"$node" node_modules/typescript/bin/tsc --strict --skipLibCheck --target es2022 --module nodenext "$out"/*.ts || failed tsc
"$node" "$out/usage.js"
