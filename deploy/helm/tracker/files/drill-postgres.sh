#!/bin/sh
# Starts Postgres on a copy of the newest base backup, lets pg_amcheck read every table and index, and counts conversions. It fails if a restore would.
#   BACKUP_FOLDER, SCRATCH_FOLDER, AGE_HOURS_MAX, POSTGRES_DATABASE
set -eu
newest=$(find "$BACKUP_FOLDER/postgres" -mindepth 1 -maxdepth 1 -type d -name '20*Z' | sort | tail -n 1)
[ -n "$newest" ] || {
  echo "there is no backup of Postgres in $BACKUP_FOLDER/postgres" >&2
  exit 1
}
[ -n "$(find "$newest" -maxdepth 0 -mmin "-$((AGE_HOURS_MAX * 60))")" ] || {
  echo "the newest backup, $newest, is older than $AGE_HOURS_MAX hours" >&2
  exit 1
}

data=$SCRATCH_FOLDER/postgres
rm -rf "$data"
cp -R "$newest" "$data"
chmod 700 "$data"
# Nothing of the original's replication, archive or addresses is used.
rm -f "$data/standby.signal" "$data/recovery.signal"
: >"$data/postgresql.auto.conf"
printf 'local all all trust\n' >"$SCRATCH_FOLDER/hba.conf"
: >"$SCRATCH_FOLDER/ident.conf"
cat >"$SCRATCH_FOLDER/postgresql.conf" <<EOF
hba_file = '$SCRATCH_FOLDER/hba.conf'
ident_file = '$SCRATCH_FOLDER/ident.conf'
listen_addresses = ''
unix_socket_directories = '$SCRATCH_FOLDER'
fsync = off
max_connections = 20
EOF

postgres -D "$data" -c "config_file=$SCRATCH_FOLDER/postgresql.conf" &
server=$!
trap 'kill -INT "$server" 2>/dev/null || true' EXIT
export PGHOST="$SCRATCH_FOLDER" PGUSER=postgres PGDATABASE="$POSTGRES_DATABASE"
until psql --no-psqlrc --quiet --command='select 1' >/dev/null 2>&1; do
  kill -0 "$server" 2>/dev/null || {
    echo "Postgres does not start on $newest" >&2
    exit 1
  }
  sleep 1
done

pg_amcheck --install-missing --heapallindexed
psql --no-psqlrc --quiet --tuples-only --no-align --command="select 'Postgres of $newest: ' || count(*) || ' conversions' from conversion"
kill -INT "$server"
wait "$server" || true
trap - EXIT
rm -rf "$data"
