import { expect, test } from "vitest";
import { ReportSlots, type SlotHolder, type SlotLimits } from "./report-slots.ts";

const LIMITS: SlotLimits = {
  perKey: 2,
  perWorkspace: 3,
  total: 5,
  waitMs: 20,
  waitingPerKey: 3,
  waitingTotal: 6,
};
const PATIENT = { ...LIMITS, waitMs: 60_000 };
const neverLeaves = new AbortController().signal;

function holder(workspaceId: number, key = 0): SlotHolder {
  return { workspaceId, keyId: workspaceId * 10 + key };
}

async function taken(slots: ReportSlots, ...holders: SlotHolder[]): Promise<(() => void)[]> {
  return await Promise.all(holders.map((one) => slots.take(one, neverLeaves)));
}

async function refusalOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => "served",
    (error: unknown) => error,
  );
}

const LIMITED = { code: "rate_limited", headers: { "retry-after": "2" } };

test("a key and a workspace have their slots, and beyond these wait and are refused (#17, G205)", async () => {
  const slots = new ReportSlots(LIMITS);
  const [first] = await taken(slots, holder(1), holder(1), holder(1, 1));
  expect(await refusalOf(slots.take(holder(1), neverLeaves))).toMatchObject(LIMITED);
  expect(await refusalOf(slots.take(holder(1, 2), neverLeaves))).toMatchObject(LIMITED);
  first?.();
  first?.();
  expect(slots.underWay).toBe(2);
  await taken(slots, holder(1));
  expect(await refusalOf(slots.take(holder(1, 2), neverLeaves))).toMatchObject(LIMITED);
  expect([slots.underWay, slots.waiting]).toEqual([3, 0]);
});

test("a process whose slots others hold is unavailable, which is not a limit of the key", async () => {
  const slots = new ReportSlots(LIMITS);
  await taken(slots, holder(1), holder(1), holder(2), holder(2), holder(2, 1));
  expect(await refusalOf(slots.take(holder(3), neverLeaves))).toMatchObject({
    code: "unavailable",
  });
});

test("waiting requests are served in turn by workspace, oldest first within one (#17, G205)", async () => {
  const slots = new ReportSlots({ ...PATIENT, total: 1 });
  const [free] = await taken(slots, holder(9));
  const served: string[] = [];
  const waiting = [holder(1), holder(1, 1), holder(1, 2), holder(2), holder(3)].map(
    async (one, index) => {
      const giveBack = await slots.take(one, neverLeaves);
      served.push(`${one.workspaceId}.${index}`);
      giveBack();
    },
  );
  free?.();
  await Promise.all(waiting);
  expect(served).toEqual(["1.0", "2.3", "3.4", "1.1", "1.2"]);
  expect([slots.underWay, slots.waiting]).toEqual([0, 0]);
});

test("a key at its limit does not hold up another key of its workspace", async () => {
  const slots = new ReportSlots(PATIENT);
  const releases = await taken(slots, holder(1), holder(1), holder(1, 1));
  const left = new AbortController();
  const older = refusalOf(slots.take(holder(1), left.signal));
  const younger = slots.take(holder(1, 1), neverLeaves);
  releases[2]?.();
  (await younger)();
  releases[0]?.();
  expect(await older).toBe("served");
});

test("only the allowed number of requests wait, of a key and of all (#17, N123)", async () => {
  const slots = new ReportSlots({ ...PATIENT, total: 1 });
  await taken(slots, holder(9));
  const left = new AbortController();
  const wait = (one: SlotHolder) => refusalOf(slots.take(one, left.signal));
  const patient = [holder(1), holder(1), holder(1), holder(2), holder(2), holder(2)].map(wait);
  expect(slots.waiting).toBe(6);
  expect(await wait(holder(1))).toMatchObject({ code: "rate_limited" });
  expect(await wait(holder(3))).toMatchObject({ code: "unavailable" });
  const gone = new Error("gone");
  left.abort(gone);
  expect(await Promise.all(patient)).toEqual(patient.map(() => gone));
  expect(slots.waiting).toBe(0);
});
