#!/usr/bin/env bash
# cynic-querygen 3.14.0 writes cynic's structs for an operation. Where input objects refer to each other in a circle, as the filters of
# most schemas do, it can name a struct without the lifetime that it has declared it with, and the text does not compile. Here `Artist`
# has no text of its own and borrows by its albums alone, and the variable's type is outside of the circle.
# Seen: a variable of type `Album`: it compiles; of type `Root`, which has an `Album`:
# `error[E0106]: missing lifetime specifier` at `pub artist: Option<Artist>` beside `pub struct Artist<'a>`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CARGO_TARGET_DIR=$folder/target
cargo init --quiet --vcs none --name circles .
cargo add --quiet cynic@=3.14.0
cargo add --quiet --build cynic-codegen@=3.14.0 cynic-querygen@=3.14.0
cat >build.rs <<'RUST'
const SCHEMA: &str = "type Query { find(root: Root, album: Album): Int }
input Root { album: Album }
input Album { title: String artist: Artist }
input Artist { albums: [Album!] }";

fn main() {
    println!("cargo::rerun-if-env-changed=QUERY");
    cynic_codegen::register_schema("it").from_sdl(SCHEMA).unwrap().as_default().unwrap();
    let text = cynic_querygen::Generator::new(SCHEMA).unwrap().generate(std::env::var("QUERY").unwrap()).unwrap();
    std::fs::write(format!("{}/it.rs", std::env::var("OUT_DIR").unwrap()), text).unwrap();
}
RUST
cat >src/main.rs <<'RUST'
#![allow(dead_code)]
#[cynic::schema("it")]
mod schema {}
include!(concat!(env!("OUT_DIR"), "/it.rs"));
fn main() {}
RUST
QUERY='query Find($it: Album!) { find(album: $it) }' cargo check --quiet
echo "of type Album: it compiles"
QUERY='query Find($it: Root!) { find(root: $it) }' cargo check --quiet 2>seen.log && { echo "changed: it compiles"; exit 1; }
cat seen.log
grep -qF 'error[E0106]: missing lifetime specifier' seen.log
grep -qF 'pub artist: Option<Artist>,' seen.log
grep -qF "pub struct Artist<'a> {" target/debug/build/circles-*/out/it.rs
echo "as stated: cynic-querygen 3.14.0"
