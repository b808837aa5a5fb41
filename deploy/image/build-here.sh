#!/usr/bin/env bash
# Builds the image on a machine without a container registry, and runs every role from it:
#   debootstrap makes Debian 13 → buildah makes that the base image → buildah builds deploy/image/Containerfile on it →
#   migrate, demo, ingress, processors and api run from the image against real servers, as uid 10001 with a read-only root.
#
#   npm run build && sudo deploy/image/build-here.sh
#
# Needs root, debootstrap and buildah (`apt-get install debootstrap buildah`). The last line is the size of the image.
#   WORK            where it works; the base is kept there for the next run (default /var/tmp/tracker-image)
#   DEBIAN_MIRROR   default: the mirror in this machine's apt sources
#   NPM_REGISTRY    default: npm's own setting on this machine
#   CERTIFICATES    a PEM file that downloads trust as well (default: $NODE_EXTRA_CA_CERTS)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly WORK=${WORK:-/var/tmp/tracker-image}
readonly BASE_IMAGE=localhost/debian-from-packages:13
readonly IMAGE=localhost/tracker:here
readonly SIZE_MB_MAX=450

say() { printf '%s %s\n' "$(date +%T)" "$*"; }

refuse() {
  echo "build-here.sh: $*" >&2
  exit 2
}

[[ "$(id -u)" == 0 ]] || refuse "debootstrap needs root"
for program in debootstrap buildah; do
  type -P "$program" >/dev/null || refuse "$program is missing: apt-get install $program"
done
[[ -e .build/test/deploy/run-image.js ]] || refuse "the tests are not compiled: npm run build"

debian_mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }'
}
mirror=${DEBIAN_MIRROR:-$(debian_mirror)}
[[ -n "$mirror" ]] || refuse "this machine has no Debian mirror in its apt sources: set DEBIAN_MIRROR"
registry=${NPM_REGISTRY:-$(npm config get registry)}
certificates=${CERTIFICATES:-${NODE_EXTRA_CA_CERTS:-}}

mkdir -p "$WORK"
# A storage of its own: the images of this machine stay as they are.
in_storage() { buildah --root "$WORK/storage" --runroot "$WORK/runroot" --storage-driver vfs "$@"; }

make_base() {
  local root="$WORK/debian"
  rm -rf "$root"
  say "debootstrap: Debian 13 in $root"
  debootstrap --variant=minbase trixie "$root" "$mirror" >"$WORK/debootstrap.log" 2>&1 ||
    refuse "debootstrap failed: see $WORK/debootstrap.log"
  # What the slim images of Debian leave out too.
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{man,info,locale,groff,lintian}/*
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  local container
  container=$(in_storage from scratch)
  in_storage add --quiet "$container" "$root" / >/dev/null
  in_storage config --cmd bash "$container"
  in_storage commit --quiet --rm "$container" "$BASE_IMAGE" >/dev/null
  rm -rf "$root"
}

in_storage inspect --type image "$BASE_IMAGE" >/dev/null 2>&1 || make_base

say "buildah bud: deploy/image/Containerfile, see $WORK/build.log"
arguments=(--build-arg "BASE=$BASE_IMAGE" --build-arg "DEBIAN_MIRROR=$mirror" --build-arg "NPM_REGISTRY=$registry")
arguments+=(--build-arg "VERSION=$(node -p 'require("./package.json").version')")
arguments+=(--build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || true)")
[[ -z "$certificates" ]] || arguments+=(--secret "id=certificates,src=$certificates")
in_storage bud --isolation=chroot --pull-never --layers=false --file deploy/image/Containerfile \
  --tag "$IMAGE" "${arguments[@]}" . >"$WORK/build.log" 2>&1 || {
  tail -n 30 "$WORK/build.log" >&2
  refuse "the build failed: see $WORK/build.log"
}

container=$(in_storage from --pull-never "$IMAGE")
remove_container() { in_storage rm "$container" >/dev/null; }
trap remove_container EXIT
root=$(in_storage mount "$container")
in_storage inspect --type image "$IMAGE" >"$WORK/image.json"

say "each role from the image, uid 10001, read-only root"
node .build/test/deploy/run-image.js "$root" "$WORK/image.json"

size_mb=$(($(du --summarize --apparent-size --block-size=1 "$root" | cut -f1) / 1000000))
say "largest folders, in MB:"
(cd "$root" && du --block-size=MB opt/tracker/node_modules opt/tracker/.build usr/lib usr/bin usr/share -s)
say "size: $size_mb MB (aim: at most $SIZE_MB_MAX MB)"
((size_mb <= SIZE_MB_MAX)) || refuse "the image is larger than $SIZE_MB_MAX MB"
