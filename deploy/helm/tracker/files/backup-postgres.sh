#!/bin/sh
# Copies a running Postgres: a base backup with the write-ahead log that it needs, which pg_verifybackup has read. The folder has its name only when it
# is whole. Older copies than the newest KEEP are removed.
#   BACKUP_FOLDER, SECRETS_FOLDER (postgresUrl, postgresPassword), KEEP
set -eu
copies=$BACKUP_FOLDER/postgres
mkdir -p "$copies"
# Removes what an earlier run has left half done.
rm -rf "$copies"/*.part

if [ -e "$SECRETS_FOLDER/postgresPassword" ]; then
  PGPASSWORD=$(cat "$SECRETS_FOLDER/postgresPassword")
  export PGPASSWORD
fi
name=$(date -u +%Y-%m-%dT%H-%M-%SZ)
pg_basebackup --dbname="$(cat "$SECRETS_FOLDER/postgresUrl")" --pgdata="$copies/$name.part" --wal-method=stream --checkpoint=fast \
  --no-password
pg_verifybackup --quiet "$copies/$name.part"
sync
mv "$copies/$name.part" "$copies/$name"
echo "Postgres: $copies/$name"

find "$copies" -mindepth 1 -maxdepth 1 -type d -name '20*Z' | sort -r | tail -n "+$((KEEP + 1))" | while read -r old; do
  rm -rf "$old"
  echo "removed $old"
done
