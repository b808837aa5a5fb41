#!/usr/bin/env bash
# Tries whether a real ClickHouse cluster keeps what the service needs from it. Prints a line for each check, then pass or fail with the
# versions of the nodes.
#
# LAST RUN ON A CLUSTER: 28 November 2026, all rounds and the check of partial answers, ClickHouse 26.7.2.1: two shards of two replicas, as
# test/deep/clickhouse-cluster/cluster-check.test.ts runs it each time. Its nodes are engines of clickhouse-local made replicas, its Keepers are
# ZooKeeper 3.9. It never ran on packages of clickhouse-server with Keeper. Whoever runs it there: write date and version here.
#
# It stops and kills servers, so give it a cluster of its own: nodes as deploy/servers/clickhouse/cluster.xml says, at least one shard of three
# replicas, and a database whose name has `check` or `test` in it, made by `tracker migrate` with CLICKHOUSE_LAYOUT=cluster. Needs curl.
#
#   NODES      every replica of the shard that is written to: "http://ch1:8123 http://ch2:8123 http://ch3:8123"
#   OTHERS     every replica of another shard; without it the check of partial answers is left out
#   DATABASE, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD    a user with all rights on the database
#   ON_HOST    runs its last argument on a host, {} is the host: "ssh root@{}" (default)
#   ROUNDS     "calm kill freeze partition" (default)
#   ROUND_S    seconds of each round, 30 by default; a fault lasts a third of it
#   ANSWER_S   seconds until an answer is given up and its insert is repeated, 10 by default
#   KILL, START, FREEZE, THAW, CUT, HEAL    the commands on a host. CUT and HEAL close and open the ports of Keeper (9181)
#   SYNC       "system sync replica click" (default)
set -euo pipefail

: "${NODES:?}" "${DATABASE:?}" "${CLICKHOUSE_USER:?}" "${CLICKHOUSE_PASSWORD:?}"
OTHERS=${OTHERS:-}
ON_HOST=${ON_HOST:-ssh root@\{\}}
ROUNDS=${ROUNDS:-calm kill freeze partition}
ROUND_S=${ROUND_S:-30}
SYNC=${SYNC:-system sync replica click}
KILL=${KILL:-systemctl kill --signal=KILL clickhouse-server}
START=${START:-systemctl start clickhouse-server}
FREEZE=${FREEZE:-systemctl kill --signal=STOP clickhouse-server}
THAW=${THAW:-systemctl kill --signal=CONT clickhouse-server}
CUT=${CUT:-iptables -I OUTPUT -p tcp --dport 9181 -j DROP}
HEAL=${HEAL:-iptables -D OUTPUT -p tcp --dport 9181 -j DROP}
ANSWER_S=${ANSWER_S:-10}
# Rows of one insert.
ROWS=100
# A killed node boots, and one that was cut off has to find Keeper again, before it can catch up.
SYNCED_S=300

if [[ $DATABASE != *check* && $DATABASE != *test* ]]; then
  echo "DATABASE: the name contains neither check nor test, so it may be the database of a service" >&2
  exit 2
fi
read -r -a nodes <<<"$NODES"
read -r -a others <<<"$OTHERS"
run=$(date +%s)
state=$(mktemp -d)
failed=0
hurt=()

# ask NODE STATEMENT [PARAMETERS]: the answer, or the status of curl.
ask() {
  curl --silent --show-error --fail-with-body --max-time "${4:-$ANSWER_S}" \
    --user "$CLICKHOUSE_USER:$CLICKHOUSE_PASSWORD" --data-binary "$2" "$1/?database=$DATABASE${3:+&$3}"
}

on_host() {
  local host=${1#*//}
  local -a command
  read -r -a command <<<"${ON_HOST//\{\}/${host%%:*}}"
  "${command[@]}" "$2"
}

say() {
  printf '%-4s %s\n' "$1" "$2"
  if [[ $1 == fail ]]; then failed=1; fi
}

# Whatever ends this script, no node stays hurt.
finish() {
  touch "$state/over"
  for cure in "${hurt[@]:-}"; do
    [[ -n $cure ]] && on_host "${cure%% *}" "${cure#* }" || true
  done
  wait
  rm -rf "$state"
}
trap finish EXIT

# Inserts blocks of a producer one after another until the file `over` exists. Repeats each block under its own token, each time on the next
# node, until a node acknowledges it, as a click writer and its successors do. Notes the number of acknowledged blocks.
write_ledger() {
  local producer=$1 block=0 at=0
  local settings="insert_quorum=auto&insert_quorum_parallel=1&insert_quorum_timeout=5000&insert_keeper_max_retries=0&async_insert=0"
  until [[ -e $state/over ]]; do
    local insert="insert into click (_lane, _producer, _epoch, _position, ts)
      select 0, $producer, $run, number, toDateTime64('2024-01-01 00:00:00', 3, 'UTC') + intDiv(number, 1000)
      from numbers($((block * ROWS)), $ROWS)"
    if ask "${nodes[at]}" "$insert" "$settings&insert_deduplication_token=check-$run-$producer-$block" >>"$state/answers" 2>&1; then
      block=$((block + 1))
      echo "$block" >"$state/acknowledged.tmp"
      mv "$state/acknowledged.tmp" "$state/acknowledged"
    else
      at=$(((at + 1) % ${#nodes[@]}))
      sleep 0.2
    fi
  done
}

# round NAME HURT CURE: the ledger, with a fault of the first node in the middle.
round() {
  local name=$1 wound=$2 cure=$3 producer=$4
  rm -f "$state/over"
  echo 0 >"$state/acknowledged"
  write_ledger "$producer" &
  local writer=$!
  sleep $((ROUND_S / 3))
  if [[ -n $wound ]]; then
    hurt+=("${nodes[0]} $cure")
    on_host "${nodes[0]}" "$wound"
    sleep $((ROUND_S / 3))
    on_host "${nodes[0]}" "$cure"
    unset 'hurt[-1]'
  else
    sleep $((ROUND_S / 3))
  fi
  sleep $((ROUND_S / 3))
  touch "$state/over"
  wait "$writer"
  local wanted=$(($(cat "$state/acknowledged") * ROWS))
  if ((wanted == 0)); then
    say fail "$name: nothing was acknowledged: $(tail -c 300 "$state/answers")"
    return
  fi
  for node in "${nodes[@]}"; do
    compare "$name" "$node" "$producer" "$wanted"
  done
}

# caught_up NODE: waits until the node answers, takes writes and has what the others have.
caught_up() {
  local until=$((SECONDS + SYNCED_S))
  until ask "$1" "$SYNC" "" "$SYNCED_S" >"$state/refusal" 2>&1; do
    if ((SECONDS >= until)); then return 1; fi
    sleep 1
  done
}

# A block whose last answer was lost may be stored without being acknowledged: one at most.
compare() {
  local name=$1 node=$2 producer=$3 wanted=$4 counts rows positions
  if ! caught_up "$node"; then
    say fail "$name: $node does not catch up within $SYNCED_S s: $(tail -c 300 "$state/refusal")"
    return
  fi
  if ! counts=$(ask "$node" "select count(), uniqExact(_position) from click where _lane = 0 and _producer = $producer and _epoch = $run format TSV" "" "$SYNCED_S" 2>&1); then
    say fail "$name: $node does not count its rows: $(tail -c 300 <<<"$counts")"
    return
  fi
  read -r rows positions <<<"$counts"
  if ((rows == positions && rows >= wanted && rows <= wanted + ROWS)); then
    say ok "$name: $node has each of $wanted acknowledged rows once"
  else
    say fail "$name: $node has $rows rows of $positions positions, $wanted were acknowledged"
  fi
}

number=0
for name in $ROUNDS; do
  number=$((number + 1))
  case $name in
    calm) round "$name" "" "" $number ;;
    kill) round "$name" "$KILL" "$START" $number ;;
    freeze) round "$name" "$FREEZE" "$THAW" $number ;;
    partition) round "$name" "$CUT" "$HEAL" $number ;;
    *)
      echo "ROUNDS: no round is named $name" >&2
      exit 2
      ;;
  esac
done

# Without a shard there is no answer, rather than a smaller one.
if ((${#others[@]} > 0)); then
  for node in "${others[@]}"; do
    hurt+=("$node $START")
    on_host "$node" "$KILL"
  done
  if ask "${nodes[0]}" "select count() from click_all" "skip_unavailable_shards=0" >/dev/null 2>&1; then
    say fail "partial: click_all answers without a shard"
  else
    say ok "partial: click_all refuses to answer without a shard"
  fi
  for node in "${others[@]}"; do
    on_host "$node" "$START"
  done
  hurt=()
  for node in "${others[@]}"; do
    if ! caught_up "$node"; then say fail "partial: $node does not come back within $SYNCED_S s"; fi
  done
fi

versions=$(for node in "${nodes[@]}" "${others[@]}"; do ask "$node" "select version()" || echo away; done | sort -u | tr '\n' ' ')
if ((failed)); then
  echo "fail, ClickHouse $versions"
  exit 1
fi
echo "pass, ClickHouse $versions"
