#!/usr/bin/env bash
# hdrhistogram 7.6.0 (Rust): a histogram of `Histogram::new(3)` grows for `record`, and never for `saturating_record`: values
# beyond its first range, which ends at 2, are counted as 2, without an error.
# Seen: after one `saturating_record(5_000_000)` max is 2; after one `record(5_000_000)` it is 5001215.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cargo init --quiet --vcs none --name grows .
cargo add --quiet hdrhistogram@=7.6.0 --no-default-features
cat >src/main.rs <<'RUST'
use hdrhistogram::Histogram;
fn main() {
    let mut saturated = Histogram::<u64>::new(3).unwrap();
    saturated.saturating_record(5_000_000);
    let mut recorded = Histogram::<u64>::new(3).unwrap();
    recorded.record(5_000_000).unwrap();
    println!("{} {}", saturated.max(), recorded.max());
}
RUST
seen=$(CARGO_TARGET_DIR="$folder/target" cargo run --quiet)
echo "$seen"
[ "$seen" = "2 5001215" ]
echo "as stated: hdrhistogram 7.6.0"
