#!/usr/bin/env bash
# Builds what a release has, into target/packages: `scripts/release.sh PART...`, or all parts without an argument.
#   binary  the command with completions and manual page, as an archive
#   deb     a Debian package with a unit for systemd
#   wheel   the Python package with the command in it
#   npm     the command as a package of npm, and one for the platform
#   image   a container image of the binaries for musl; needs Docker
# WEIR_TARGET is the target of Rust (default: the machine's, with glibc). Ready parts are taken in place of a build:
# WEIR_BINARY is a command, WEIR_WHEEL a wheel without it.
source "$(dirname "$0")/common.sh"
source scripts/python.sh
# Rights within packages do not depend on who builds them.
umask 022

out=${WEIR_PACKAGES:-$PWD/target/packages}
target=${WEIR_TARGET:-$(uname -m)-unknown-linux-gnu}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
# Packages of one commit are equal, whenever they are built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
case $target in
  x86_64-unknown-linux-*) debian=amd64 node=x64 ;;
  aarch64-unknown-linux-*) debian=arm64 node=arm64 ;;
  *) die "WEIR_TARGET is $target: there are packages for x86_64 and aarch64 with linux-gnu and linux-musl" ;;
esac
libc=${target##*-}

# find_binary: `binary` is the command for the target, built once.
find_binary() {
  [ -z "${binary:-}" ] || return 0
  binary=${WEIR_BINARY:-}
  if [ -z "$binary" ]; then
    make --no-print-directory console
    say "building $target"
    cargo build --locked --profile dist --bin weir ${WEIR_TARGET:+--target "$WEIR_TARGET"}
    binary=${CARGO_TARGET_DIR:-$PWD/target}/${WEIR_TARGET:-}/dist/weir
  fi
  [ "$("$binary" --version)" = "weir $version" ] || die "$binary is not weir $version"
}

# newest_glibc FILE: the version of glibc that the program needs; nothing for a static one.
newest_glibc() {
  { grep -aoE 'GLIBC_2\.[0-9]+' "$1" || true; } | sed 's/GLIBC_//' | sort -Vu | tail -1
}

# write_extras FOLDER: completions and the manual page, which the command itself tells.
write_extras() {
  mkdir -p "$1"
  for shell in bash zsh fish; do "$binary" completions "$shell" >"$1/weir.$shell"; done
  {
    printf '.TH WEIR 1 "%s" "weir %s"\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)" "$version"
    printf '.SH NAME\nweir \\- GraphQL engine in front of databases and services\n'
    printf '.SH SYNOPSIS\n.B weir\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n.SH COMMANDS\n'
    "$binary" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z]*\)  *\(.*\)/.TP\n.B \1\n\2/p'
    printf '.PP\n.B weir help\n.I COMMAND\ntells the arguments of a command.\n'
    printf '.SH FILES\n.TP\n.I weir.yaml\nThe configuration, in the folder where the command runs unless named.\n'
    printf '.SH ENVIRONMENT\n.TP\n.B WEIR_ADMIN_SECRET\nCallers with this secret are the admin.\n'
    printf '.SH SIGNALS\n.TP\n.B SIGHUP\nReads the configuration and the catalogs of the sources again.\n'
    printf '.TP\n.BR SIGTERM ", " SIGINT\nEnds the server after the requests in flight.\n'
  } >"$1/weir.1"
}

package_binary() {
  find_binary
  local name=weir-$version-$target
  local folder=$work/$name
  mkdir -p "$folder"
  install -m 755 "$binary" "$folder/weir"
  cp LICENSE README.md CHANGELOG.md "$folder/"
  write_extras "$folder/extras"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n >"$out/$name.tar.gz"
  # `image` takes it from here.
  [ "$libc" != musl ] || install -D -m 755 "$binary" "$out/image/linux/$debian/weir"
}

package_deb() {
  need dpkg-deb dpkg
  find_binary
  local root=$work/deb glibc depends=""
  glibc=$(newest_glibc "$binary")
  [ -z "$glibc" ] || depends="libc6 (>= $glibc), libgcc-s1"
  write_extras "$work/extras"
  install -D -m 755 "$binary" "$root/usr/bin/weir"
  install -D -m 644 packaging/deb/weir.service "$root/usr/lib/systemd/system/weir.service"
  install -D -m 644 packaging/deb/sysusers.conf "$root/usr/lib/sysusers.d/weir.conf"
  install -D -m 644 packaging/deb/weir.yaml "$root/usr/share/doc/weir/examples/weir.yaml"
  install -D -m 644 packaging/deb/copyright "$root/usr/share/doc/weir/copyright"
  install -D -m 644 "$work/extras/weir.bash" "$root/usr/share/bash-completion/completions/weir"
  install -D -m 644 "$work/extras/weir.zsh" "$root/usr/share/zsh/vendor-completions/_weir"
  install -D -m 644 "$work/extras/weir.fish" "$root/usr/share/fish/vendor_completions.d/weir.fish"
  mkdir -p "$root/usr/share/man/man1" "$root/DEBIAN"
  gzip -n9 <"$work/extras/weir.1" >"$root/usr/share/man/man1/weir.1.gz"
  gzip -n9 <CHANGELOG.md >"$root/usr/share/doc/weir/CHANGELOG.md.gz"
  install -m 755 packaging/deb/{postinst,prerm} "$root/DEBIAN/"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  {
    printf 'Package: weir\nVersion: %s\nArchitecture: %s\n' "$version" "$debian"
    printf 'Maintainer: %s\nSection: database\nPriority: optional\n' "${DEB_MAINTAINER:-The authors of Weir <weir@weir.example>}"
    printf 'Installed-Size: %s\n' "$(du -sk "$root/usr" | cut -f1)"
    [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
    # Roots of trust for services and databases that are reached by TLS.
    printf 'Recommends: ca-certificates\n'
    printf 'Description: GraphQL engine in front of databases and services\n'
    printf ' Serves SQLite, PostgreSQL, a database made from GraphQL types, and REST,\n GraphQL and gRPC services as one GraphQL API.\n'
  } >"$root/DEBIAN/control"
  chmod -R go-w "$root"
  dpkg-deb --root-owner-group ${DEB_COMPRESSION:+-Z"$DEB_COMPRESSION"} --build "$root" "$out/weir_${version}_$debian.deb" >/dev/null
}

package_wheel() {
  [ "$libc" = gnu ] || die "wheels are built for glibc"
  find_binary
  local wheel=${WEIR_WHEEL:-}
  python_environment
  if [ -z "$wheel" ]; then
    python_wheel release
    wheel=$(ls target/wheels/weir-*.whl)
  fi
  "$environment/bin/python" scripts/wheel-with-binary.py "$wheel" "$binary" "$(newest_glibc "$binary")" "$out"
}

package_npm() {
  need_node
  find_binary
  node packaging/npm/stage.mjs "$work/npm" "$version" "linux-$node-$libc" "$binary"
  for folder in "$work"/npm/*/; do npm pack --silent --pack-destination "$out" "$folder" >/dev/null; done
}

package_image() {
  docker buildx version >/dev/null 2>&1 || die "'docker buildx' is missing: an image is built where Docker runs"
  local platforms
  platforms=$(cd "$out/image" 2>/dev/null && printf '%s\n' linux/* | paste -sd,) || true
  [ -n "$platforms" ] || die "there is no binary for musl: WEIR_TARGET=$(uname -m)-unknown-linux-musl scripts/release.sh binary"
  mkdir -p "$out/image/data"
  # IMAGE_FLAGS: --push for a registry, --load for this machine (one platform).
  # shellcheck disable=SC2086
  docker buildx build --file packaging/image/Dockerfile --platform "$platforms" --tag "${IMAGE:-weir}:$version" ${IMAGE_FLAGS:-} "$out/image"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
[ $# -gt 0 ] || set -- binary deb wheel npm
for part; do
  case $part in
    binary | deb | wheel | npm | image) say "$part"; "package_$part" ;;
    *) die "'$part' is no part of a release: binary, deb, wheel, npm, image" ;;
  esac
done
ls -l "$out"
