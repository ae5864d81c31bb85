# Shared by the scripts behind make: words, and packages of the system.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m== %s\033[0m\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# need COMMAND PACKAGE: makes sure that COMMAND is there, from Debian's PACKAGE when we may install.
need() {
  command -v "$1" >/dev/null || provide "$1" "$2"
}

# need_file PATTERN COMMAND PACKAGE: the same for a command that is not in the path.
need_file() {
  command -v "$2" >/dev/null || compgen -G "$1" >/dev/null || provide "$2" "$3"
}

# want_file PATTERN PACKAGE: installs Debian's PACKAGE for PATTERN if that can be; goes on without it else.
want_file() {
  compgen -G "$1" >/dev/null || (provide "$1" "$2") || say "going on without $2"
}

provide() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $2"
    [ -n "${APT_UPDATED:-}" ] || { apt-get update -qq; export APT_UPDATED=1; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
  else
    die "'$1' is missing. Install it (Debian: apt-get install $2) and run this again."
  fi
}

# debug_weir: `weir` is the path of a debug binary, built unless WEIR_BIN names one.
debug_weir() {
  weir=${WEIR_BIN:-}
  [ -n "$weir" ] || { cargo build --quiet --bin weir; weir=${CARGO_TARGET_DIR:-$PWD/target}/debug/weir; }
}

# beside COMMAND FOLDER ARGUMENT...: cargo in a workspace of its own. All of them share what they build below bench/target.
beside() {
  CARGO_PROFILE_DEV_DEBUG=false cargo "$1" --manifest-path "$2/Cargo.toml" --target-dir bench/target "${@:3}"
}

need_node() {
  command -v npm >/dev/null || die "'npm' is missing. Install Node.js 20 or later and run this again."
}

# audit_packages: installs the audits of GraphQL over HTTP, once per lock file.
audit_packages() {
  (
    cd tests/audit
    cmp -s package-lock.json node_modules/.installed-lock 2>/dev/null || { npm ci --no-audit --no-fund --loglevel=error; cp package-lock.json node_modules/.installed-lock; }
  )
}
