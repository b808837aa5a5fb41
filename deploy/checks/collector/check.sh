#!/usr/bin/env bash
# Builds the OpenTelemetry Collector from its Go modules (minutes the first time), and tests tracing with it. Needs Go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

program="$PWD/node_modules/.cache/tracker-collector/collector"
mkdir -p "$(dirname "$program")"
(cd deploy/checks/collector && go build -ldflags="-s -w" -o "$program" .)
npm run --silent build
npx vitest run --config test/vitest.config.ts --project deep-deploy test/deep/deploy/tracing.test.ts
