#!/usr/bin/env bash
# apollo-kotlin/run.sh SCHEMAS TABLES NATIVE RELAY: generates clients in Kotlin and in Java for the schemas in the folder SCHEMAS with the
# compiler of Apollo Kotlin, compiles them, and asks at the three addresses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cp -r "$here"/{generate.xml,client.xml,generate,client} "$KIT_HOME/"
cd "$KIT_HOME"
rm -rf generated target/client
mvn -q -B -f generate.xml compile exec:java -Dexec.arguments="$1,$here/../operations,$PWD/generated"
mvn -q -B -f client.xml compile exec:java -Dexec.arguments="$2,$3,$4"
