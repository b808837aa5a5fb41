import { expect, test } from "vitest";
import { SyncGroup } from "./sync-group.ts";

type Done = (error: Error | null) => void;

/** A segment whose syncs end when the test ends them. */
function aSegment(): {
  group: SyncGroup;
  syncs: Done[];
  faults: Error[];
  isClosed: () => boolean;
} {
  const syncs: Done[] = [];
  const faults: Error[] = [];
  let isClosed = false;
  const writer = {
    put: () => true,
    sync: (done: Done) => void syncs.push(done),
    close: () => {
      isClosed = true;
    },
  };
  const group = new SyncGroup(writer, (done) => done(null), {
    onFault: (error) => void faults.push(error),
  });
  return { group, syncs, faults, isClosed: () => isClosed };
}

test("an answer waits for a sync that began after its record was written (P8)", () => {
  const { group, syncs } = aSegment();
  const answered: string[] = [];
  group.noteWritten();
  group.whenSynced(() => answered.push("a"));
  group.noteWritten();
  group.whenSynced(() => answered.push("b"));
  expect(syncs).toHaveLength(1);
  syncs[0]?.(null);
  expect(answered).toEqual(["a"]);
  syncs[1]?.(null);
  expect(answered).toEqual(["a", "b"]);
});

test("a failed sync is reported, also to those who wait for it (P8)", () => {
  const { group, syncs, faults } = aSegment();
  const results: (Error | null)[] = [];
  group.whenSynced((error) => results.push(error));
  const fault = new Error("EIO");
  syncs[0]?.(fault);
  expect([results, faults]).toEqual([[fault], [fault]]);
});

test("a record that comes during a sync waits for a sync of its own, and is known to wait (P8)", () => {
  const { group, syncs } = aSegment();
  group.noteWritten();
  group.start();
  expect(group.isDirty).toBe(false);
  group.noteWritten();
  group.start();
  expect([syncs.length, group.isDirty]).toEqual([1, true]);
  syncs[0]?.(null);
  group.start();
  expect([syncs.length, group.isDirty]).toEqual([2, false]);
});

test("a segment is closed after its last record is on the disk, and never during a sync", async () => {
  const { group, syncs, isClosed } = aSegment();
  group.noteWritten();
  group.start();
  group.noteWritten();
  const closed = group.close();
  expect([syncs.length, isClosed()]).toEqual([1, false]);
  syncs[0]?.(null);
  expect([syncs.length, isClosed()]).toEqual([2, false]);
  syncs[1]?.(null);
  await closed;
  expect(isClosed()).toBe(true);
});
