#!/usr/bin/env bash
# graphql-js 17.1.0 builds a schema whose SDL extends a directive that nothing defines, and says nothing: a slip in the name of a directive
# takes its deprecation away. The same slip in the name of a type is `Cannot extend type`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install graphql@17.1.0 >>npm.log 2>&1
cat >show.js <<'JS'
const { buildSchema } = require('graphql');
const told = (sdl) => {
  try {
    const old = buildSchema(sdl).getDirective('old');
    return old ? String(old.deprecationReason) : 'built';
  } catch (error) {
    return error.message.split('\n')[0];
  }
};
const rest = 'directive @old on FIELD type Query { a: Int }';
console.log(told(`extend directive @old @deprecated(reason: "gone") ${rest}`));
console.log(told(`extend directive @olt @deprecated(reason: "gone") ${rest}`));
console.log(told(`extend type Olt { b: Int } ${rest}`));
JS
node show.js >found.log 2>&1 || true
cat >stated.log <<'LOG'
gone
undefined
Cannot extend type "Olt" because it is not defined.
LOG
if ! diff stated.log found.log; then
  echo "changed"; exit 1
fi
echo "as stated: graphql-js 17.1.0"
