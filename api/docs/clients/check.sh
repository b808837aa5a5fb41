#!/usr/bin/env bash
# Packs both clients, checks the types of the Python client with mypy --strict, and runs both against the service. Needs python3 with
# venv, and packages that pip downloads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

npm run --silent clients:pack
environment="$(mktemp -d)"
trap 'rm -rf "$environment"' EXIT
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check mypy==2.4.1 .build/clients/*.whl
"$environment/bin/mypy" --cache-dir "$environment/cache" --strict --package affiliate_tracker
"$environment/bin/mypy" --cache-dir "$environment/cache" --strict test/deep/integration/clients/walk.py
PYTHON_CLIENT="$environment/bin/python" npx vitest run --config test/vitest.config.ts --project deep-integration test/deep/integration/clients
