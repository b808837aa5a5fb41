import { expect, test } from "vitest";
import type { ProcessStatus } from "../installation/process-status.ts";
import { journalHosts, judgeJournals, judgeReady, judgeTogether } from "./judge-processes.ts";

function ingress(facts: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    role: "ingress",
    process_id: "i",
    name: "ingress-9411",
    host: "edge-1",
    version: "0.1.0",
    commit: "abc",
    uptime_ms: 61_000,
    stage: "running",
    ready: true,
    journal_room_bytes: 98_000_000_000,
    ...facts,
  };
}

test("doctor names the process that does not answer or cannot work, with its host (#37)", () => {
  const silent = [{ name: "ingress-9412", host: "edge-2" }];
  const stuck = ingress({ ready: false });
  const starting = ingress({ name: "api-9441", ready: false, stage: "starting" });
  const { faults } = judgeReady({ answers: [ingress(), stuck, starting], silent });
  expect(faults.map(({ weight, sentence }) => `${weight}: ${sentence}`)).toEqual([
    expect.stringMatching(/^warns: 1 of 4 do not answer .* ingress-9412 on edge-2\./),
    "refuses: ingress-9411 on edge-1 runs and is not ready",
    "warns: api-9441 on edge-1 is starting",
  ]);
  expect(judgeReady({ answers: [ingress()], silent: [] })).toEqual({
    faults: [],
    well: "1 run and answer",
  });
});

test("each host's journals are judged alone: full, silent, and refusing for an hour (#37)", () => {
  const workers = [
    ingress({ journal_write_faults: 3_000, journal_fault_seconds: 60 }),
    ingress({ journal_write_faults: 6, journal_sync_faults: 1, journal_fault_seconds: 90 }),
    ingress({ host: "edge-2", journal_room_bytes: 0 }),
    ingress({ host: "edge-3", journal_room_bytes: null }),
    ingress({ host: "edge-4", journal_write_faults: 5, journal_fault_seconds: 3_600 }),
    ingress({ host: "edge-5", role: "api", journal_room_bytes: 0 }),
  ];
  const { faults } = judgeJournals(journalHosts(workers));
  expect(faults.map(({ brief }) => brief)).toEqual([
    "3,006 writes refused on edge-1",
    "1 sync failed on edge-1",
    "disk of edge-2 full",
    "disk of edge-3 does not answer",
  ]);
  expect(faults[0]?.sentence).toMatch(/edge-1 refused 3,006 writes .*the last 60 s ago$/);
  expect(faults[2]?.sentence).toMatch(/full, so clicks go to NATS only: make room, never by del/);
  expect(faults.every(({ weight }) => weight === "refuses")).toBe(true);
});

test("a process whose stores are not of one installation is named (P35)", () => {
  const strange = ingress({ stores_belong_together: false });
  const { faults } = judgeTogether({
    answers: [ingress({ stores_belong_together: true }), strange],
  });
  expect(faults.map(({ sentence }) => sentence)).toEqual([
    "ingress-9411 on edge-1: Postgres, NATS and ClickHouse are not of one installation",
  ]);
});
