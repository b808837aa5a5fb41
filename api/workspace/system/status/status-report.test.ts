import { describe, expect, test } from "vitest";
import type { KnownProcess } from "../../../../schemas/installation/heartbeat.ts";
import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import { FOUR_LANES } from "../../../../test/samples/four-lanes.ts";
import type { PostgresStatus } from "./ask-postgres.ts";
import type { Answer, Snapshot } from "./snapshot.ts";
import { asJson, exitCodeOf, reportOf, written } from "./status-report.ts";

const AT_MS = Date.UTC(2026, 10, 23, 12);
const RELEASE = { version: "0.9.2", commit: "abc", stage: "running", ready: true } as const;

function ingress(index: number, facts: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    ...RELEASE,
    role: "ingress",
    process_id: `i${index}`,
    name: `ingress-${9_410 + index}`,
    host: "edge-1",
    uptime_ms: 61_000,
    producer: index,
    records_taken: 1_000,
    records_unrecorded: 0,
    records_lost: 0,
    unstored_records: 10,
    oldest_unstored_seconds: 0.4,
    journal_bytes: 2_000_000,
    journal_room_bytes: 98_000_000_000,
    ...facts,
  };
}

function writer(name: string, lanes: string, facts: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    ...RELEASE,
    role: "processors",
    process_id: name,
    name,
    host: "core-1",
    uptime_ms: 61_000,
    rows_stored: 990,
    lanes_held: lanes,
    oldest_waiting_seconds: 0.2,
    open_holes: 0,
    lanes_equal: lanes,
    lanes_differing: "",
    oldest_audit_seconds: 38,
    waits_because: "",
    ...facts,
  };
}

const api: ProcessStatus = {
  ...RELEASE,
  role: "api",
  process_id: "a1",
  name: "api-9441",
  host: "core-1",
  uptime_ms: 61_000,
};

function earlierOf(now: readonly ProcessStatus[]): ProcessStatus[] {
  return now.map((one) => ({
    ...one,
    uptime_ms: one.uptime_ms - 1_000,
    ...(one.role === "ingress" ? { records_taken: 800 } : {}),
    ...(one.role === "processors" ? { rows_stored: 900 } : {}),
  }));
}

function heartbeat(
  { process_id: id, role, name, host }: ProcessStatus,
  ageSeconds = 3,
): KnownProcess {
  const { version, commit } = RELEASE;
  const times = { startedAt: "", lastSeenAt: "", ageSeconds };
  const schema = { schemaVersion: 39, incarnation: "x" };
  return { id, role, name, host, opsPort: 9_411, version, commit, ...schema, ...times };
}

const ALL = [ingress(1), ingress(2), writer("writer-a", "0,1,2,3"), writer("writer-b", "100"), api];

function postgres(more: Partial<PostgresStatus> = {}): Answer<PostgresStatus> {
  const value: PostgresStatus = {
    heartbeats: ALL.map((one) => heartbeat(one)),
    producers: [],
    lanes: [],
    lanesWanted: FOUR_LANES,
    lost: 0,
    facts: { isFinished: true, found: 0, secondsAgo: 600 },
    backupAges: new Map([["postgres", 4 * 3_600]]),
    standbys: ["pg-1"],
    isStandby: false,
    ...more,
  };
  return { is: "known", value };
}

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    atMs: AT_MS,
    processes: { is: "known", value: ALL },
    earlier: earlierOf(ALL),
    postgres: postgres(),
    streams: {
      is: "known",
      value: [
        {
          name: "CLICKS",
          replicas: 3,
          hours: 72,
          bytes: 256e9,
          compression: "s2",
          messages: 5,
          bytesUsed: 31e9,
          oldestAt: new Date(AT_MS - 11 * 3_600_000).toISOString(),
          leader: "n1",
          followers: [
            { name: "n2", isCurrent: true },
            { name: "n3", isCurrent: true },
          ],
        },
      ],
    },
    clickhouse: { is: "known", value: { version: "26.7.3.1", cluster: undefined } },
    ...more,
  };
}

/** The processes that answer; all have a heartbeat. */
function of(...processes: ProcessStatus[]): Snapshot {
  return snapshot({ processes: { is: "known", value: processes }, earlier: earlierOf(processes) });
}

function seen(given: Snapshot): { readonly exit: number; readonly lines: readonly string[] } {
  const report = reportOf(given);
  return { exit: exitCodeOf(report), lines: written(report).split("\n") };
}

const AWAY = { is: "unknown", why: "away" } as const;

test("a sound system is five lines with a figure of everything, and exit code 0", () => {
  expect(seen(snapshot())).toEqual({
    exit: 0,
    lines: [
      "clicks   400/s answered · 180/s stored · oldest unstored 0.4 s · unrecorded 0 · lost 0",
      "journal  2 producers · 4.0 MB of 98.0 GB (3 d at this rate)",
      "lanes    0-3 writer-a +0.2 s · 100 writer-b +0.2 s",
      "stores   stream R3 current, 31.0 GB of 256 GB, 11 h · postgres, sync pg-1 · clickhouse 26.7",
      "audit    38 s ago: 5 lanes equal · facts equal 10 min ago · backups pg 4 h · 5 of 0.9.2",
    ],
  });
});

describe("the disk of a journal", () => {
  test("that is full is a fault without traffic too, and the line names its host (#37)", () => {
    const idle = { records_taken: 0 };
    const full = ingress(2, { host: "edge-2", journal_room_bytes: 0, ...idle });
    const { exit, lines } = seen({
      ...of(ingress(1, idle), full, ...ALL.slice(2)),
      earlier: [],
    });
    expect(exit).toBe(1);
    expect(lines[1]).toBe(
      "journal  2 producers · 2.0 MB of 2.0 MB on edge-2 · disk of edge-2 full  ← degraded",
    );
  });

  test("of each host counts alone, and the one that is full first is shown (#37)", () => {
    const tight = ingress(2, { host: "edge-2", journal_room_bytes: 1_000_000_000 });
    const given = of(ingress(1), tight, ...ALL.slice(2));
    const { exit, lines } = seen(given);
    expect(exit).toBe(1);
    expect(lines[1]).toContain("2.0 MB of 1.0 GB on edge-2 (83 min at this rate)  ← degraded");
    expect(asJson(reportOf(given))).toMatchObject({
      journal: {
        bytes: 4_000_000,
        room_bytes: 1_000_000_000,
        hosts: [{ host: "edge-1" }, { host: "edge-2" }],
      },
    });
  });

  test.each([
    [{ journal_write_faults: 3_006 }, "3,006 writes refused on edge-1"],
    [{ journal_sync_faults: 1 }, "1 sync failed on edge-1"],
  ])("that refuses is a fault for an hour: %j (#37)", (faults, text) => {
    const report = (seconds: number) =>
      seen(of(ingress(1, { ...faults, journal_fault_seconds: seconds }), ...ALL.slice(1)));
    expect(report(60).exit).toBe(1);
    expect(report(60).lines[1]).toContain(text);
    expect(report(3_700).exit).toBe(0);
  });

  test("that does not answer is a fault (#37)", () => {
    const gone = { journal_room_bytes: null };
    const { exit, lines } = seen(of(ingress(1, gone), ingress(2, gone), ...ALL.slice(2)));
    expect(exit).toBe(1);
    expect(lines[1]).toContain("4.0 MB of ? GB · disk of edge-1 does not answer  ← degraded");
  });
});

describe("a dead part is a fault of its line, and no line counts it", () => {
  test("ingress", () => {
    const { exit, lines } = seen(of(writer("writer-a", "0,1,2,3,100"), api));
    expect(exit).toBe(1);
    expect(lines[0]).toMatch(/^clicks {3}\?\/s answered .*ingress-9411 \? 3.0 s.*← degraded$/);
    expect(lines[1]).toBe("journal  0 producers · ? of ? GB  ← degraded");
    expect(lines[4]).toContain("2 of 0.9.2");
  });

  test("one of two ingress", () => {
    const { exit, lines } = seen(of(ingress(2), writer("writer-a", "0,1,2,3,100"), api));
    expect(exit).toBe(1);
    expect(lines[0]).toMatch(/^clicks {3}200\/s answered .*ingress-9411 \? 3.0 s/);
    expect(lines[1]).toMatch(/^journal {2}1 producer · 2.0 MB/);
  });

  test("processors", () => {
    const { exit, lines } = seen(of(ingress(1), ingress(2), api));
    expect(exit).toBe(1);
    expect(lines[0]).toContain("?/s stored");
    expect(lines[2]).toMatch(/^lanes {4}0-3,100 \? nobody · writer-a \? 3.0 s.*← degraded$/);
    expect(lines[4]).toMatch(/lanes \? .*3 of 0.9.2/);
  });

  test("api", () => {
    const { exit, lines } = seen(of(...ALL.slice(0, -1)));
    expect(exit).toBe(1);
    expect(lines[4]).toMatch(/no api · api-9441 \? 3.0 s · … {2}← degraded$/);
    expect(lines.slice(0, 4).join()).not.toContain("←");
  });

  test("NATS: nobody can tell", () => {
    const { exit, lines } = seen(snapshot({ processes: AWAY, streams: AWAY, earlier: [] }));
    expect(exit).toBe(3);
    expect(lines[0]).toMatch(
      /^clicks {3}\?\/s answered · \?\/s stored · oldest unstored \? .*← cannot/,
    );
    expect(lines[1]).toBe("journal  ? producers · ? of ? GB  ← cannot tell");
    expect(lines[2]).toBe("lanes    0-3,100 ?  ← cannot tell");
    expect(lines[3]).toContain("stream ? away");
    expect(lines[4]).toContain("? processes");
  });

  test("Postgres: nobody can tell what is lost", () => {
    const { exit, lines } = seen(snapshot({ postgres: AWAY }));
    expect(exit).toBe(3);
    expect(lines[0]).toContain("lost ?");
    expect(lines[3]).toContain("postgres ? away");
    expect(lines[4]).toContain("facts ? · backups ?");
  });

  test("lanes that were added and wait for their clicks of before", () => {
    const lanes = [0, 1, 4, 5, 100].map((lane) => ({
      lane,
      owner: "writer-a",
      isHeld: true,
      lanes: lane < 2 ? 4 : lane === 100 ? 4 : 0,
    }));
    const { lines } = seen(snapshot({ postgres: postgres({ lanes }) }));
    expect(lines[2]).toContain("4-5 wait for clicks of before");
    expect(lines[2]).toContain("degraded");
  });

  test("ClickHouse: clicks wait in the stream", () => {
    const { exit, lines } = seen(snapshot({ clickhouse: AWAY }));
    expect(exit).toBe(1);
    expect(lines[3]).toMatch(/clickhouse \? away · … {2}← degraded$/);
  });
});

test.each([
  [
    "clicks that were answered and not recorded",
    of(ingress(1, { records_unrecorded: 3 }), ...ALL.slice(1)),
  ],
  ["clicks noted as lost", snapshot({ postgres: postgres({ lost: 5 }) })],
  [
    "a lane whose rows differ",
    of(
      ...ALL.slice(0, 2),
      writer("writer-a", "0,1,2,3", { lanes_differing: "2" }),
      ...ALL.slice(3),
    ),
  ],
])("exit code 2 for %s", (_what, given) => {
  const { exit, lines } = seen(given);
  expect(exit).toBe(2);
  expect(lines.filter((line) => line.endsWith("← may be lost"))).toHaveLength(1);
});

test("a loss that is known outweighs a server that is away", () => {
  const lossy = of(ingress(1, { records_unrecorded: 1 }), ...ALL.slice(1));
  expect(seen({ ...lossy, postgres: AWAY }).exit).toBe(2);
});

test.each([
  [
    "a lane that lags",
    of(
      ...ALL.slice(0, 2),
      writer("writer-a", "0,1,2,3", { oldest_waiting_seconds: 90 }),
      ...ALL.slice(3),
    ),
    2,
  ],
  [
    "holes in a lane",
    of(...ALL.slice(0, 2), writer("writer-a", "0,1,2,3", { open_holes: 2 }), ...ALL.slice(3)),
    2,
  ],
  [
    "clicks that are not stored",
    of(ingress(1, { oldest_unstored_seconds: 61 }), ...ALL.slice(1)),
    0,
  ],
  [
    "a silent producer",
    snapshot({
      postgres: postgres({
        producers: [
          {
            id: 17,
            host: "edge-5",
            state: "silent",
            lastWordAt: new Date(Date.now() - 72_000).toISOString(),
            mayMissSince: null,
          },
        ],
      }),
    }),
    1,
  ],
  [
    "facts that differed",
    snapshot({ postgres: postgres({ facts: { isFinished: true, found: 3, secondsAgo: 60 } }) }),
    4,
  ],
  [
    "an old backup",
    snapshot({ postgres: postgres({ backupAges: new Map([["clickhouse", 100_000]]) }) }),
    4,
  ],
] as const)("degraded: %s", (_what, given, line) => {
  const { exit, lines } = seen(given);
  expect(exit).toBe(1);
  expect(lines.map((text) => text.endsWith("← degraded")).indexOf(true)).toBe(line);
});

test("a killed process is forgotten after an hour if another one does its work", () => {
  const gone = (age: number): Snapshot => {
    const heartbeats = [...ALL, ingress(7)].map((one) =>
      heartbeat(one, one.process_id === "i7" ? age : 3),
    );
    return snapshot({ postgres: postgres({ heartbeats }) });
  };
  expect(seen(gone(3_500))).toMatchObject({ exit: 1 });
  expect(seen(gone(3_500)).lines[0]).toContain("ingress-9417 ? 58 min");
  expect(seen(gone(3_700))).toMatchObject({ exit: 0 });
});

test("a killed process that was started again is not missing, another one of its name is (G263)", () => {
  const old = { ...ingress(1), process_id: "i1-before" };
  const stateWith = (age: number): number => {
    const heartbeats = [...ALL.map((one) => heartbeat(one)), heartbeat(old, age)];
    return seen(snapshot({ postgres: postgres({ heartbeats }) })).exit;
  };
  // The process that answers has run for 61 s: one that was seen since then runs, or ran, on another machine of this host name.
  expect(stateWith(62)).toBe(0);
  expect(stateWith(20)).toBe(1);
});

test("no line is longer than 100 columns, and faults stay in it", () => {
  const writers = Array.from({ length: 30 }, (_, index) =>
    writer(`writer-${index}`, String(index)),
  );
  const { lines } = seen(of(...writers, api));
  for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(100);
  expect(lines[2]).toMatch(/100 \? nobody.*… {2}← degraded$/);
});

test("--json has every figure, null for what is unknown, and each process once", () => {
  const json = asJson(reportOf(snapshot({ processes: AWAY, streams: AWAY, earlier: [] })));
  expect(json).toMatchObject({
    at: "2026-11-23T12:00:00.000Z",
    state: "unknown",
    exit_code: 3,
    clicks: { state: "unknown", answered_per_second: null, unrecorded: null, lost_24h: 0 },
    journal: { producers: null, bytes: null },
    lanes: { lanes: [{ lane: 0, process: null }, {}, {}, {}, { lane: 100 }] },
    stores: { stream: null, faults: { stream: "away" } },
    audit: { lanes_equal: [], backup_age_seconds: { postgres: 14_400 } },
  });
  const { processes } = reportOf(snapshot());
  expect(asJson(reportOf(snapshot()))).toMatchObject({ processes });
  expect(processes.map(({ name }) => name)).toEqual(ALL.map(({ name }) => name));
  expect(processes.every(({ answers }) => answers)).toBe(true);
});
