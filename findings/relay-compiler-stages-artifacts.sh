#!/usr/bin/env bash
# relay-compiler 21.0.1 puts the artifacts that it writes into git's index, without being asked: the next `git commit` takes them along.
# `noSourceControl: true` in its configuration leaves the index alone.
# Needs Node.js and git.
# Seen: `git diff --cached --name-only` names __generated__/AppQuery.graphql.js after a run; with the option it names nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >src/App.js <<'JS'
import { graphql } from "relay-runtime";
export const query = graphql`query AppQuery { name }`;
JS
echo 'type Query { name: String }' >schema.graphql
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error relay-compiler@21.0.1 >/dev/null
git init -q .
# compile MORE: runs the compiler with MORE in its configuration, and prints what is staged.
compile() {
  printf '{"src": "./src", "schema": "./schema.graphql", "language": "javascript"%s}\n' "$1" >relay.config.json
  rm -rf src/__generated__
  git rm -rq --cached --ignore-unmatch .
  npx relay-compiler >/dev/null 2>&1
  git diff --cached --name-only --diff-filter=A
}
usual=$(compile '')
without=$(compile ', "noSourceControl": true')
echo "relay-compiler $(npx relay-compiler --version 2>/dev/null | head -1)"
echo "staged: ${usual:-nothing}; with noSourceControl: ${without:-nothing}"
[[ $usual == *AppQuery.graphql.js* ]] && [ -z "$without" ]
