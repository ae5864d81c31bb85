#!/usr/bin/env bash
# http-cache-semantics 4.3.0 (npm) counts an answer as fresh whose Date is older than its lifetime: the age is taken from the
# Age header and the time since the answer arrived; RFC 9111 4.2.3 starts with max(0, arrival - Date).
# Seen for `Date` one hour ago and `max-age=5`, just arrived: age 0, lifetime left 5000 ms, reused without revalidation.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install http-cache-semantics@4.3.0 >>npm.log 2>&1
node -e '
  const CachePolicy = require("http-cache-semantics");
  const request = { url: "/", method: "GET", headers: {} };
  const date = new Date(Date.now() - 3600e3).toUTCString();
  const policy = new CachePolicy(request, { status: 200, headers: { date, "cache-control": "max-age=5" } });
  const seen = [Math.round(policy.age()), policy.satisfiesWithoutRevalidation(request), policy.timeToLive() > 4000];
  console.log(JSON.stringify(seen));
  if (JSON.stringify(seen) !== "[0,true,true]") process.exit(1);
'
echo "as stated: http-cache-semantics 4.3.0"
