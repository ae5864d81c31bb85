#!/usr/bin/env bash
# Prints a token of an hour: token.sh USER ROLE [ROLE …]. The first role is the default one.
set -euo pipefail
user=$1 default=$2
shift
roles=$(printf '"%s",' "$@")
expires=$(($(date +%s) + 3600))
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
head=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url)
claims=$(printf '{"exp":%s,"https://hasura.io/jwt/claims":{"x-hasura-allowed-roles":[%s],"x-hasura-default-role":"%s","x-hasura-user-id":"%s"}}' \
  "$expires" "${roles%,}" "$default" "$user" | base64url)
key=${FLEET_KEY:-the key of the example, 32 bytes or more}
signature=$(printf '%s.%s' "$head" "$claims" | openssl dgst -sha256 -hmac "$key" -binary | base64url)
printf '%s.%s.%s\n' "$head" "$claims" "$signature"
