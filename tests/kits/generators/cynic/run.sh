#!/usr/bin/env bash
# cynic/run.sh SCHEMAS TABLES NATIVE RELAY: generates clients for the schemas in the folder SCHEMAS with cynic's generator, compiles them,
# and asks at the three addresses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/{Cargo.toml,Cargo.lock,build.rs,main.rs} "$KIT_HOME/"
SCHEMAS=$1 OPERATIONS=$here/../operations CARGO_TARGET_DIR=$KIT_HOME/target cargo build --quiet --locked --manifest-path "$KIT_HOME/Cargo.toml"
exec "$KIT_HOME/target/debug/kit" "${@:2}"
