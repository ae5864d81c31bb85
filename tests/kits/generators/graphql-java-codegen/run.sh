#!/usr/bin/env bash
# graphql-java-codegen/run.sh SCHEMAS TABLES NATIVE RELAY: generates classes for the schemas in the folder SCHEMAS with
# graphql-java-codegen, compiles them, and asks at the three addresses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$KIT_HOME"
rm -rf client target schemas
cp -r "$here"/{pom.xml,client} .
mkdir schemas
# It knows roots by their usual names alone: findings/graphql-java-codegen-roots.sh.
for schema in tables native relay; do
  sed -E 's/\bquery_root\b/Query/; s/\bmutation_root\b/Mutation/; s/\bsubscription_root\b/Subscription/' "$1/$schema.graphql" >"schemas/$schema.graphql"
done
exec mvn -q -B compile exec:java -Dexec.arguments="$2,$3,$4"
