#!/usr/bin/env bash
# Starts the service with a folder and ports of its own, and sends it thousands of valid and invalid requests for every operation of its
# OpenAPI document (schemathesis). Needs python3 with venv, and packages that pip downloads. Arguments go to schemathesis, for
# example --include-operation-id getReport.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

readonly tools="$PWD/node_modules/.cache/tracker-schemathesis"
readonly start_seconds_max=600
[[ -x "$tools/bin/python" ]] || python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check schemathesis==4.32.5
npm run --silent build

folder="$(mktemp -d)"
service=""
finish() {
  if [[ -n "$service" ]]; then
    kill -TERM "$service" 2>/dev/null || true
    wait "$service" || true
  fi
  rm -rf "$folder" "$folder.log"
}
trap finish EXIT

DATA_DIR="$folder" TRACKING_PORT="${TRACKING_PORT:-28580}" API_PORT="${API_PORT:-28581}" RATE_LIMIT_PER_MINUTE=1000000 \
  node .build/deploy/local/main.js >"$folder.log" 2>&1 &
service=$!
until [[ -f "$folder/demo.json" ]]; do
  if ! kill -0 "$service" 2>/dev/null || ((SECONDS > start_seconds_max)); then
    cat "$folder.log"
    exit 1
  fi
  sleep 1
done

demo() { node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))'"$1" "$folder/demo.json"; }
base="$(demo .base_url)"
# A key with an id that no boundary value of an id hits.
key="$(curl -sf -H "Authorization: Bearer $(demo .keys.admin)" -H "Content-Type: application/json" \
  --data '{"name":"schemathesis","role":"admin"}' "$base/keys" | node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).data.key')"

# It keeps what it found in its working directory.
config="$PWD/deploy/checks/schemathesis/schemathesis.toml"
cd "$folder"
"$tools/bin/st" --config-file "$config" run "$base/openapi.json" \
  --header "Authorization: Bearer $key" --max-examples 5 --seed 1 --workers 2 --request-timeout 60 --continue-on-failure --warnings off "$@"
