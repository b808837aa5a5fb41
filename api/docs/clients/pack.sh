#!/usr/bin/env bash
# Generates and packs the clients named as arguments, both by default, into .build/clients: a tarball for npm, a wheel for pip.
# `npm run clients:pack` builds the service first. The Python client needs python3 with venv, and packages that pip downloads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

readonly out="${CLIENTS_FOLDER:-$PWD/.build/clients}"
readonly sources="$PWD/api/docs/clients"
readonly tools="$PWD/node_modules/.cache/tracker-clients"
[[ $# -gt 0 ]] || set -- typescript python

node .build/api/write-clients.js "$out"

pack_typescript() {
  local folder="$out/typescript"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$sources"/typescript/* LICENSE "$folder"
  cp "$out/entry.ts" "$out/operations.ts" "$folder"
  npx --no-install openapi-typescript "$out/openapi.json" --output "$folder/schema.ts" >/dev/null
  node node_modules/typescript-7/bin/tsc -p "$folder/tsconfig.pack.json"
  npm pack --silent --pack-destination "$out" "$folder"
}

pack_python() {
  local folder="$out/python"
  rm -rf "$folder"
  cp -R "$sources/python" "$folder"
  cp LICENSE "$folder"
  cp "$out/tracker.py" "$folder/affiliate_tracker"
  mkdir -p "$tools"
  [[ -x "$tools/generator/bin/python" ]] || python3 -m venv "$tools/generator"
  "$tools/generator/bin/python" -m pip install --quiet --disable-pip-version-check datamodel-code-generator==0.89.0
  "$tools/generator/bin/datamodel-codegen" --input "$out/python-schemas.json" --input-file-type openapi \
    --output "$folder/affiliate_tracker/models.py" --output-model-type typing.TypedDict --target-python-version 3.11 \
    --enum-field-as-literal all --no-use-closed-typed-dict --collapse-root-models --use-standard-collections \
    --use-union-operator --use-field-description --disable-timestamp --formatters builtin
  "$tools/generator/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" "$folder"
  find "$out" -maxdepth 1 -name '*.whl'
}

for client in "$@"; do
  "pack_$client"
done
