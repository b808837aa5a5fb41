#!/bin/sh
# Starts a NATS server on the configuration that is named, with the passwords of make-secrets.sh in its environment.
set -eu
set -a
# shellcheck source=/dev/null
. "${NATS_PASSWORDS:-/run/secrets/nats_passwords}"
set +a
export NATS_ROUTE_1="tls://route:$NATS_ROUTE_PASSWORD@nats:6222"
export NATS_ROUTE_2="tls://route:$NATS_ROUTE_PASSWORD@nats-2:6222"
export NATS_ROUTE_3="tls://route:$NATS_ROUTE_PASSWORD@nats-3:6222"
exec nats-server --config "$1"
