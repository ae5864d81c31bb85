#!/usr/bin/env bash
# openapi-typescript 7.13.0 takes an OpenAPI 3.2 document, exits with 0, and leaves out what 3.2 added, without a warning:
# the `query` operation, `additionalOperations`, a parameter `in: querystring`; the type of an `itemSchema` is `unknown`.
# (@readme/openapi-parser 9.0.0 and @apidevtools/swagger-parser 13.1.0 refuse 3.2 by name.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install openapi-typescript@7.13.0 typescript@5.9.3 >>npm.log 2>&1
cat >document.yaml <<'YAML'
openapi: 3.2.0
info: {title: harbour, version: "1"}
paths:
  /ships:
    query:
      operationId: searchShips
      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
      responses: {"200": {description: found}}
    additionalOperations:
      COPY:
        operationId: copyShips
        responses: {"204": {description: copied}}
    get:
      operationId: listShips
      parameters:
        - name: all
          in: querystring
          content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {flag: {type: string}}}}}
      responses: {"200": {description: rows, content: {application/jsonl: {itemSchema: {type: object, properties: {id: {type: integer}}}}}}}
YAML
npx openapi-typescript document.yaml >types.ts 2>messages.log
grep -q 'listShips: {' types.ts
grep -q '"application/jsonl": unknown;' types.ts
if grep -qE 'searchShips|copyShips|querystring|flag' types.ts || grep -qiE 'warn|unsupported|unknown' messages.log; then
  echo "changed:"; cat types.ts messages.log; exit 1
fi
echo "as stated: openapi-typescript 7.13.0"
