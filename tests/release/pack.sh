#!/usr/bin/env bash
# The archives of a release, from what ./dev build has built: bash tests/release/pack.sh FOLDER
# Names, order, times and owners in an archive are fixed, so that two builds of one commit are the same bytes.
set -euo pipefail
out="$1"
version=$(cat VERSION)
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
rm -rf "$out" && mkdir -p "$out"

# archive NAME FOLDER PREFIX
archive() {
  tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --transform "s,^\.,$3," -C "$2" -cf - . |
    gzip -9n >"$out/$1"
}
archive "plimsoll-site-$version.tar.gz" build/site "plimsoll-site-$version"
archive "plimsoll-core-$version.tgz" build/npm package
python3 core/cli/python/wheel.py build/native/plimsoll_alone "$out"
node tests/release/sbom.mjs >"$out/plimsoll-$version.cdx.json"
cp CHANGELOG.md "$out/"
cd "$out" && sha256sum -- * >SHA256SUMS
