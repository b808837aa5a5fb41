#!/bin/sh
# Restores the newest backup into clickhouse-local, lets it check the parts of every table, and counts clicks. It fails if a restore would.
#   BACKUP_FOLDER, SCRATCH_FOLDER, SECRETS_FOLDER (clickhouse-local.yaml), AGE_HOURS_MAX, CLICKHOUSE_DATABASE, CLICKHOUSE_DESTINATION
set -eu
note=$BACKUP_FOLDER/clickhouse-newest
[ -e "$note" ] || {
  echo "there is no backup of ClickHouse: $note is missing" >&2
  exit 1
}
[ -n "$(find "$note" -mmin "-$((AGE_HOURS_MAX * 60))")" ] || {
  echo "the newest backup of ClickHouse is older than $AGE_HOURS_MAX hours" >&2
  exit 1
}
destination=$(printf '%s' "$CLICKHOUSE_DESTINATION" | sed "s/{name}/$(cat "$note")/g")

data=$SCRATCH_FOLDER/clickhouse
rm -rf "$data"
set -- --path "$data"
[ -e "$SECRETS_FOLDER/clickhouse-local.yaml" ] && set -- "$@" --config-file "$SECRETS_FOLDER/clickhouse-local.yaml"
clickhouse local "$@" --query "RESTORE DATABASE $CLICKHOUSE_DATABASE FROM $destination"
tables="SELECT name FROM system.tables WHERE database = '$CLICKHOUSE_DATABASE' AND engine LIKE '%MergeTree' ORDER BY name FORMAT TSV"
names=$(clickhouse local "$@" --query "$tables")
[ -n "$names" ] || {
  echo "the backup has no table of $CLICKHOUSE_DATABASE" >&2
  exit 1
}
for table in $names; do
  # RESTORE does not read what it copies. CHECK TABLE prints one line: 1 if every part is as its checksums say.
  checked=$(clickhouse local "$@" --query "CHECK TABLE $CLICKHOUSE_DATABASE.\`$table\` SETTINGS check_query_single_value_result = 1 FORMAT TSV")
  case $checked in
  1 | true) ;;
  *)
    printf 'the table %s is damaged: %s\n' "$table" "$checked" >&2
    exit 1
    ;;
  esac
done
clickhouse local "$@" --query "SELECT 'ClickHouse of $(cat "$note"): ' || toString(count()) || ' clicks' FROM $CLICKHOUSE_DATABASE.click"
rm -rf "$data"
