import { expect, test } from "vitest";
import type { NatsServerReport } from "../nats/server-reports.ts";
import type { StreamReport } from "../nats/stream-report.ts";
import { isViolated, type Judgement } from "./finding.ts";
import {
  judgeEngines,
  judgeIdentity,
  judgeRepeatedInsert,
  judgeReplicas,
} from "./judge-clickhouse.ts";
import { judgeJournal } from "./judge-journal.ts";
import { judgeNatsSync, judgeNatsVersions, judgeStreams } from "./judge-nats.ts";
import { judgeCommits, judgeStandbys, judgeTables } from "./judge-postgres.ts";

/** Weights and sentences, as `weight: sentence`. */
function faultsOf({ faults }: Judgement): string[] {
  return faults.map(({ weight, sentence }) => `${weight}: ${sentence}`);
}

const SOUND_SERVER: NatsServerReport = {
  id: "N1",
  name: "n1",
  version: "2.11.4",
  syncsAlways: true,
  clusterSize: 1,
};
const THREE = [1, 2, 3].map((n) => ({
  ...SOUND_SERVER,
  id: `N${n}`,
  name: `n${n}`,
  clusterSize: 3,
}));

test("N1 names each NATS server that does not sync always, and is unknown while one is away (P35)", () => {
  expect(judgeNatsSync({ way: "system account", reports: THREE })).toEqual({
    faults: [],
  });
  const lazy = THREE.map((one) => ({ ...one, syncsAlways: one.name !== "n2" }));
  expect(faultsOf(judgeNatsSync({ way: "system account", reports: lazy }))).toEqual([
    expect.stringMatching(/^refuses: NATS server n2 .*sync_interval to always/),
  ]);
  const two = judgeNatsSync({ way: "system account", reports: THREE.slice(1) });
  expect(two.missing).toBe("2 of 3 NATS servers answer");
  expect(isViolated(two)).toBeUndefined();
  expect(isViolated(judgeNatsSync({ way: "system account", reports: lazy.slice(1) }))).toBe(true);
});

test("N1 and N3 count NATS servers with one name as the servers that they are (P35, G263)", () => {
  const named = THREE.map((one) => ({ ...one, name: "tracker-1" }));
  expect(judgeNatsSync({ way: "system account", reports: named }).missing).toBeUndefined();
  const old = named.map((one, index) => ({ ...one, version: index === 0 ? "2.9.0" : "2.14.10" }));
  expect(judgeNatsVersions(old, 3).faults.map(({ weight }) => weight)).toEqual(["refuses"]);
});

test("N1 refuses without a way to ask, and with monitoring addresses of some servers only (P35)", () => {
  expect(faultsOf(judgeNatsSync({ way: "none" }))).toEqual([
    expect.stringMatching(/^refuses: .*NATS_SYS_URL.*NATS_MONITOR_URLS/),
  ]);
  const some = { way: "monitors", listed: 2, reports: THREE.slice(1) } as const;
  expect(faultsOf(judgeNatsSync(some))).toEqual([
    expect.stringMatching(/^refuses: NATS_MONITOR_URLS names 2 of the 3 servers/),
  ]);
  expect(judgeNatsSync({ way: "monitors", listed: 1, reports: [] }).missing).toBe(
    "0 of 1 NATS servers answer",
  );
});

const HOUR_MS = 3_600_000;
const SOUND_STREAM: StreamReport = {
  name: "CLICKS",
  replicas: 3,
  isOnDisk: true,
  discardsOld: true,
  maxAgeMs: 72 * HOUR_MS,
  maxBytes: 64 * 1024 ** 3,
  persistsAsync: false,
  bytes: 1024 ** 3,
  spanMs: 10 * HOUR_MS,
  metadata: {},
};
const FLEET = { singleSite: false };

test.each<[Partial<StreamReport>, RegExp]>([
  [{ replicas: 1 }, /^refuses: .* 1 of 3 copies.*NATS_REPLICAS=3/],
  [{ isOnDisk: false }, /^refuses: .*in memory/],
  [{ discardsOld: false }, /^refuses: .*refuses new clicks/],
  [{ maxAgeMs: 24 * HOUR_MS }, /^refuses: .*for 24 h.*48 h/],
  [{ persistsAsync: true }, /^refuses: .*persist_mode/],
  [{ bytes: 30 * 1024 ** 3 }, /^alerts: .*room for 64 GiB.*216 GiB/],
])("N2 names a stream with %j (P35)", (difference, sentence) => {
  const stream = { ...SOUND_STREAM, ...difference };
  expect(faultsOf(judgeStreams([stream], FLEET))).toEqual([expect.stringMatching(sentence)]);
});

test("N2 accepts a sound stream, one copy on a single site, and no limit of age or bytes (P35)", () => {
  expect(judgeStreams([SOUND_STREAM], FLEET).faults).toEqual([]);
  const alone = { ...SOUND_STREAM, replicas: 1, maxAgeMs: 0, maxBytes: -1 };
  expect(judgeStreams([alone], { singleSite: true }).faults).toEqual([]);
});

test.each([
  ["2.10.23", 1, []],
  ["2.10.22", 1, ["refuses"]],
  ["2.9.25", 3, ["refuses"]],
  ["2.11.0-RC.1", 1, []],
  ["2.12.15", 3, ["warns"]],
  ["2.14.9", 3, ["warns"]],
  ["2.14.10", 3, []],
  ["3.0.0", 3, []],
  ["unknown", 1, ["refuses"]],
])("N3 for NATS %s and %i servers: %j (P35)", (version, servers, weights) => {
  const { faults } = judgeNatsVersions([{ id: "N1", name: "n1", version }], servers);
  expect(faults.map(({ weight }) => weight)).toEqual(weights);
});

const LIMITS = { statement_timeout: 10_000, lock_timeout: 2_000 };
const SOUND_SETTINGS = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  statement_timeout: "10000",
  lock_timeout: "2000",
};

test.each([
  ["fsync", "off", /fsync off.*postgresql\.conf/],
  ["full_page_writes", "off", /full_page_writes off/],
  ["synchronous_commit", "off", /synchronous_commit off/],
  ["synchronous_commit", "local", /synchronous_commit local/],
  ["synchronous_commit", "remote_write", /synchronous_commit remote_write/],
  ["statement_timeout", "0", /statement_timeout 0 ms.*PgBouncer.*tracker migrate/],
  ["lock_timeout", "60000", /lock_timeout 60000 ms/],
])("P1 names %s = %s (P35)", (name, value, sentence) => {
  const settings = new Map(Object.entries({ ...SOUND_SETTINGS, [name]: value }));
  expect(faultsOf(judgeCommits(settings, LIMITS))).toEqual([expect.stringMatching(sentence)]);
});

test("P1 accepts sound settings, remote_apply and shorter limits (P35)", () => {
  const others = { synchronous_commit: "remote_apply", statement_timeout: "8000" };
  for (const settings of [SOUND_SETTINGS, { ...SOUND_SETTINGS, ...others }]) {
    expect(judgeCommits(new Map(Object.entries(settings)), LIMITS).faults).toEqual([]);
  }
});

test("P2 names unlogged tables except those that may be lost (P35)", () => {
  expect(judgeTables(["rate_window", "report_place"]).faults).toEqual([]);
  expect(faultsOf(judgeTables(["rate_window", "conversion"]))).toEqual([
    expect.stringMatching(/conversion is unlogged.*alter table conversion set logged/),
  ]);
});

test.each([
  ["", 0, 0, []],
  ["", 0, 1, [/^refuses: .*wait for 0 of 1.*ANY 1/]],
  ["ANY 1 (*)", 1, 1, []],
  ["FIRST 2 (a, b, c)", 2, 2, []],
  ["2 (a, b, c)", 3, 2, []],
  ["a, b", 1, 1, []],
  ["a, b", 1, 2, [/^refuses: .*wait for 1 of 2/]],
  ["ANY 1 (*)", 0, 1, [/^alerts: .*sees 0 of 1.*pg_monitor/]],
])(
  "P3 of standbys %j, of which %d are there, of %d wanted (P35)",
  (names, count, wanted, expected) => {
    const state = { isInRecovery: false, synchronousStandbys: count, standbyNames: names };
    const faults = faultsOf(judgeStandbys(state, wanted));
    expect(faults).toHaveLength(expected.length);
    for (const [index, sentence] of expected.entries()) expect(faults[index]).toMatch(sentence);
  },
);

test("P3 alerts while the address leads to a standby: a start may fall into a failover (P35)", () => {
  const state = { isInRecovery: true, synchronousStandbys: 0, standbyNames: "ANY 1 (*)" };
  expect(faultsOf(judgeStandbys(state, 1))).toEqual([expect.stringMatching(/^alerts: .*standby/)]);
});

const WINDOW = "non_replicated_deduplication_window";
const FSYNCS = "fsync_after_insert = 1, fsync_part_directory = 1";
const ALONE = ["click", "impression", "conversion_fact", "ad_cost_fact", "producer_claim"]
  .concat("installation_mark")
  .map((name) => ({
    name,
    engine: name.endsWith("_fact") ? "ReplacingMergeTree" : "MergeTree",
    engineFull: `MergeTree ORDER BY x SETTINGS ${WINDOW} = 10000, ${FSYNCS}`,
  }));

test.each<[string, Partial<(typeof ALONE)[number]>, RegExp]>([
  ["click", { engine: "Log" }, /table click has the engine Log/],
  ["click", { engineFull: `SETTINGS ${WINDOW} = 100, ${FSYNCS}` }, /window 100,.*= 10000/],
  ["click", { engineFull: `SETTINGS ${FSYNCS}` }, /window 0,/],
  [
    "impression",
    { engineFull: `SETTINGS ${WINDOW} = 10000, fsync_after_insert = 1` },
    /impression .*\(fsync_part_directory off\).*tracker migrate/,
  ],
  ["conversion_fact", { engineFull: "" }, /fsync_after_insert and fsync_part_directory off/],
])("C1 names the table %s with %j (P35)", (name, difference, sentence) => {
  const tables = ALONE.map((one) => (one.name === name ? { ...one, ...difference } : one));
  expect(faultsOf(judgeEngines(tables, new Map(), "single"))).toEqual([
    expect.stringMatching(sentence),
  ]);
});

test("C1 accepts sound tables and the server's own defaults, and names a missing table (P35)", () => {
  expect(judgeEngines(ALONE, new Map(), "single").faults).toEqual([]);
  const bare = ALONE.map((one) => ({ ...one, engineFull: "" }));
  const defaults = new Map([
    [WINDOW, "10000"],
    ["fsync_after_insert", "true"],
    ["fsync_part_directory", "1"],
  ]);
  expect(judgeEngines(bare, defaults, "single").faults).toEqual([]);
  expect(faultsOf(judgeEngines(ALONE.slice(1), new Map(), "single"))).toEqual([
    expect.stringMatching(/table click does not exist/),
  ]);
});

test("C1 of a cluster wants replicated tables that remember inserts for a day (P35)", () => {
  const settings =
    "SETTINGS replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400";
  const distributed = ["click_all", "impression_all"].map((name) => ({
    name,
    engine: "Distributed",
    engineFull: "Distributed('tracker', 'tracker', 'click', _lane)",
  }));
  const replicated = ALONE.map((one) => ({
    ...one,
    engine: `Replicated${one.engine}`,
    engineFull: settings,
  }));
  const cluster = [...replicated, ...distributed];
  expect(judgeEngines(cluster, new Map(), "cluster").faults).toEqual([]);
  const wrong = cluster.map((one) => {
    if (one.name === "click") return { ...one, engineFull: settings.replace("86400", "3600") };
    return one.name === "ad_cost_fact" ? { ...one, engine: "ReplacingMergeTree" } : one;
  });
  expect(faultsOf(judgeEngines(wrong, new Map(), "cluster"))).toEqual([
    expect.stringMatching(/click has replicated_deduplication_window_seconds 3600/),
    expect.stringMatching(/ad_cost_fact has the engine ReplacingMergeTree/),
  ]);
  expect(faultsOf(judgeEngines(replicated, new Map(), "cluster"))).toEqual([
    expect.stringMatching(/table click_all does not exist/),
    expect.stringMatching(/table impression_all does not exist/),
  ]);
  expect(faultsOf(judgeEngines(ALONE, new Map(), "cluster")).length).toBeGreaterThan(5);
});

test("C2 refuses a server that stores a repeated insert twice or not at all (P35)", () => {
  expect(judgeRepeatedInsert(1).faults).toEqual([]);
  for (const stored of [0, 2]) expect(isViolated(judgeRepeatedInsert(stored))).toBe(true);
});

test("C3 names lonely and read-only replicas, and two servers with one place (P35)", () => {
  const sound = [
    { host: "ch1", table: "click", isReadonly: false, totalReplicas: 2 },
    { host: "ch2", table: "click", isReadonly: false, totalReplicas: 2 },
  ];
  const nodes = [
    { host: "ch1", shard: "1", replica: "a" },
    { host: "ch2", shard: "1", replica: "b" },
  ];
  expect(judgeReplicas(sound, nodes).faults).toEqual([]);
  const wrong = [
    { host: "ch1", table: "click", isReadonly: true, totalReplicas: 2 },
    { host: "ch3", table: "click", isReadonly: false, totalReplicas: 1 },
  ];
  const twins = [...nodes, { host: "ch3", shard: "1", replica: "b" }];
  expect(faultsOf(judgeReplicas(wrong, twins))).toEqual([
    expect.stringMatching(/^alerts: .*click on ch1 is read-only/),
    expect.stringMatching(/^refuses: .*click on ch3 has 1 of 2 replicas/),
    expect.stringMatching(/^alerts: .*ch2 lacks click, .*`tracker clickhouse drop-replica 1-b`/),
    expect.stringMatching(/^refuses: .*ch2 and ch3 both call themselves shard 1, replica b/),
  ]);
});

const EXT4 = 0xef53;
const SOUND_DISK = { folder: "/j", fileSystem: EXT4, isLockKept: true, sync: "always" } as const;

test.each([
  [{ fileSystem: 0x01021994 }, /^refuses: .*\/j is on tmpfs/],
  [{ fileSystem: 0x794c7630 }, /^refuses: .*overlay/],
  [{ fileSystem: 0x6969 }, /^refuses: .*NFS/],
  [{ fileSystem: 0x65735546 }, /^refuses: .*FUSE/],
  [{ fileSystem: 0xff534d42 | 0 }, /^refuses: .*CIFS/],
  [{ isLockKept: false }, /^refuses: .*does not keep locks/],
  [{ sync: "none" as const }, /^refuses: JOURNAL_SYNC is none/],
  [{ sync: "interval" as const }, /^warns: JOURNAL_SYNC is interval.*20 ms/],
])("J1 names a journal with %j (P35)", (difference, sentence) => {
  const faults = faultsOf(judgeJournal({ ...SOUND_DISK, ...difference }));
  expect(faults).toEqual([expect.stringMatching(sentence)]);
});

test("J1 accepts a local disk, and a warning is no violation (P35)", () => {
  expect(judgeJournal(SOUND_DISK).faults).toEqual([]);
  expect(isViolated(judgeJournal({ ...SOUND_DISK, sync: "interval" }))).toBe(false);
});

test("I1 names a ClickHouse of another installation, and leaves out one without a mark (P35)", () => {
  for (const clickhouse of ["a", undefined])
    expect(judgeIdentity({ postgres: "a", clickhouse }).faults).toEqual([]);
  expect(faultsOf(judgeIdentity({ postgres: "a", clickhouse: "b" }))).toEqual([
    expect.stringMatching(/^refuses: ClickHouse has the incarnation b and Postgres has a/),
  ]);
});
