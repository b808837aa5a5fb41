#!/bin/sh
# Puts everything that a production process needs into a new folder: the compiled product, the files that it reads while it
# runs, and its dependencies. The image is built with it, and test/deep/deploy/image.test.ts runs every role from its result.
#
#   sh deploy/image/assemble.sh <folder>
#
# Needs the dependencies of the build and Node 20 on Linux.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
to=${1:?usage: sh deploy/image/assemble.sh <folder>}
if [ -e "$to" ]; then
  echo "assemble.sh: $to exists already. Name a new folder." >&2
  exit 2
fi
mkdir -p "$to"
to=$(CDPATH='' cd -- "$to" && pwd)

cd "$root"
# Compiled below the root, where the compiled code finds the dependencies that build the console.
rm -rf .build/image
node node_modules/typescript-7/bin/tsc -p deploy/image/tsconfig.json --outDir .build/image
node .build/image/api/build-console.js "$root/.build/image/console"
rm .build/image/console/built
node .build/image/ingress/request/write-asn-file.js "$root/.build/image"
mv .build/image "$to/.build"

# The compiled files are under .build; migrations, scripts for browsers and the pages of the guide are read from beside
# package.json.
find ingress processors api schemas -type f ! -name '*.ts' ! -path 'api/console/web/*' \
  \( ! -name '*.md' -o -path 'api/docs/guide/pages/*' \) | while read -r file; do
  mkdir -p "$to/$(dirname "$file")"
  cp "$file" "$to/$file"
done
cp LICENSE "$to/"

node deploy/image/without-engines.cjs "$to"
cd "$to"
npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

# uWebSockets.js carries a library for each system and release of Node. This image needs one.
native="uws_$(node -p 'process.platform')_$(node -p 'process.arch')_$(node -p 'process.versions.modules').node"
if [ ! -e "node_modules/uWebSockets.js/$native" ]; then
  echo "assemble.sh: uWebSockets.js has no $native: use Node 20, 22 or 24 on x64 or arm64" >&2
  exit 1
fi
node "$root/deploy/check-native.cjs" "$to"
find node_modules/uWebSockets.js -name 'uws_*.node' ! -name "$native" -delete
# The network table is read from the two files with numbers; the others hold the same ranges as text.
rm -f node_modules/@ip-location-db/asn/asn-ipv4.csv node_modules/@ip-location-db/asn/asn-ipv6.csv
find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
# Everybody may read the code, and only root may change it.
chmod -R u=rwX,go=rX .
