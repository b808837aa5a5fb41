#!/bin/sh
# Lets ClickHouse back up a database to CLICKHOUSE_DESTINATION, in which {name} is the time, and notes that time for the drill.
#   BACKUP_FOLDER, SECRETS_FOLDER (clickhouse-client.yaml), CLICKHOUSE_DATABASE, CLICKHOUSE_DESTINATION
set -eu
name=$(date -u +%Y-%m-%dT%H-%M-%SZ)
destination=$(printf '%s' "$CLICKHOUSE_DESTINATION" | sed "s/{name}/$name/g")
clickhouse client --config-file "$SECRETS_FOLDER/clickhouse-client.yaml" --query "BACKUP DATABASE $CLICKHOUSE_DATABASE TO $destination"
printf '%s' "$name" >"$BACKUP_FOLDER/clickhouse-newest.part"
mv "$BACKUP_FOLDER/clickhouse-newest.part" "$BACKUP_FOLDER/clickhouse-newest"
echo "ClickHouse: $destination"
