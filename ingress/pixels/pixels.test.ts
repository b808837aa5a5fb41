import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COUPON_CLICK_MS } from "../../schemas/events/coupon-click.ts";
import type { PostbackReply, PostbackRequest } from "../../schemas/events/postback-request.ts";
import { FOUR_LANES } from "../../test/samples/four-lanes.ts";
import type { Recorded } from "../route.ts";
import type { PixelEvents } from "./metrics.ts";
import { PixelShipper } from "./pixel-shipper.ts";
import { PixelStore } from "./pixel-store.ts";

const RECEIVED_AT_MS = Date.UTC(2026, 10, 20);
const RECORDED: PostbackReply = { httpStatus: 200, result: "approved", body: { ok: true } };
const REFUSED: PostbackReply = { httpStatus: 200, result: "unknown_click", body: { ok: false } };
const OUTAGE: PostbackReply = { httpStatus: 503, result: "unavailable", body: { ok: false } };
const FAULT: PostbackReply = { httpStatus: 503, result: "error", body: { ok: false } };
const COUPON: PostbackReply = {
  ...RECORDED,
  couponClick: {
    click_id: "0".repeat(32),
    ts: RECEIVED_AT_MS,
    workspace_id: 1,
    offer_id: 1,
    advertiser_id: 1,
    affiliate_id: 1,
    domain: "t.example",
  },
};

let folder = "";
let seen: string[] = [];
const events: PixelEvents = {
  kept: () => seen.push("kept"),
  recorded: (result) => seen.push(result),
  givenUp: (reason) => seen.push(`given up: ${reason}`),
  diskFailed: () => seen.push("disk failed"),
  damaged: (bytes) => seen.push(`damaged ${bytes}`),
  sendFailed: (error) => seen.push(String(error)),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pixels-"));
  seen = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a kept pixel is on the disk, readable by its owner only, and deleted when it is settled (P15)", async () => {
  const store = new PixelStore({ folder, events });
  await store.keep(pixel(1));
  expect(files().map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600]);
  expect([store.waiting, seen]).toEqual([1, ["kept"]]);
  await ship(store, () => RECORDED);
  expect([files(), store.waiting, store.bytes]).toEqual([[], 0, 0]);
  expect(seen).toEqual(["kept", "approved"]);
  await store.close();
});

test("pixels are sent in the order of arrival, unchanged, and marked as sent before (P15)", async () => {
  const store = new PixelStore({ folder, events, fileBytes: 500 });
  for (let i = 0; i < 7; i += 1) await store.keep(pixel(i));
  expect(files().length).toBeGreaterThan(1);
  const sent = await ship(store, () => RECORDED);
  expect(sent).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((i) => ({
      ...pixel(i),
      producer: 3,
      recordsUntilMs: RECEIVED_AT_MS + COUPON_CLICK_MS,
      isRepeat: true,
    })),
  );
  await store.close();
});

test("an outage is asked again until it is over, and any other answer is the last one (P15)", async () => {
  const store = new PixelStore({ folder, events });
  await store.keep(pixel(1));
  await store.keep(pixel(2));
  const answers = [undefined, OUTAGE, OUTAGE, undefined, RECORDED, REFUSED];
  const sent = await ship(store, () => answers.shift());
  expect(sent.map(nameOf)).toEqual(["1", "1", "2", "1", "1", "2"]);
  expect(seen.slice(2)).toEqual(["approved", "unknown_click"]);
  await store.close();
});

test("pixels that get no definite answer do not hold up the others (P15)", async () => {
  const store = new PixelStore({ folder, events });
  for (let i = 0; i < 40; i += 1) await store.keep(pixel(i));
  const hopeless = 20;
  const sent = await ship(
    store,
    (report) => (Number(nameOf(report)) < hopeless ? OUTAGE : RECORDED),
    () => store.waiting === hopeless,
  );
  expect(new Set(sent.map(nameOf)).size).toBe(40);
  await store.close();
});

test("the next process sends only the unsettled pixels again (P15)", async () => {
  const before = new PixelStore({ folder, events });
  for (let i = 0; i < 3; i += 1) await before.keep(pixel(i));
  const taken = before.takeOldest();
  const [first] = taken?.pixels ?? [];
  if (first !== undefined) taken?.settle(first);
  // No close: killed.
  const after = new PixelStore({ folder, events });
  expect(after.waiting).toBe(2);
  await after.keep(pixel(3));
  expect((await ship(after, () => RECORDED)).map(nameOf)).toEqual(["1", "2", "3"]);
  expect(files()).toEqual([]);
  await after.close();
});

test("a damaged file gives up its good pixels (P15)", async () => {
  const before = new PixelStore({ folder, events });
  await before.keep(pixel(0));
  await before.close();
  appendFileSync(join(folder, files()[0] ?? ""), "JRNL cut off");
  const after = new PixelStore({ folder, events });
  expect((await ship(after, () => RECORDED)).map(nameOf)).toEqual(["0"]);
  expect(seen).toContain("damaged 12");
  await after.close();
});

test("the pixels of a dead process move to the folder of another and keep their time (P15)", async () => {
  const other = mkdtempSync(join(tmpdir(), "pixels-"));
  const dead = new PixelStore({ folder: other, events });
  await dead.keep(pixel(1));
  await dead.close();
  const store = new PixelStore({ folder, events });
  await store.keep(pixel(2));
  store.adopt(other);
  expect([readdirSync(other), store.waiting]).toEqual([[], 2]);
  const sent = await ship(store, () => RECORDED);
  expect(sent.map(nameOf).sort()).toEqual(["1", "2"]);
  expect(sent.every(({ receivedAtMs }) => receivedAtMs === RECEIVED_AT_MS)).toBe(true);
  await store.close();
  rmSync(other, { recursive: true });
});

test("disk use is bounded: pixels above it are counted (P15)", async () => {
  const other = mkdtempSync(join(tmpdir(), "pixels-"));
  const dead = new PixelStore({ folder: other, events });
  for (let i = 0; i < 3; i += 1) await dead.keep(pixel(i));
  await dead.close();
  const store = new PixelStore({ folder, events, bytesMax: 1_000 });
  seen = [];
  for (let i = 0; i < 5; i += 1) await store.keep(pixel(i));
  expect(seen.filter((word) => word === "given up: full").length).toBe(5 - store.waiting);
  expect(store.waiting).toBeGreaterThan(0);
  expect(store.bytes).toBeLessThanOrEqual(1_000);
  store.adopt(other);
  expect(readdirSync(other)).toHaveLength(1);
  await store.close();
  rmSync(other, { recursive: true });
});

test("a pixel is given up only when it fails for days by a fault of ours (P15)", async () => {
  const store = new PixelStore({ folder, events });
  await store.keep({ ...pixel(1), receivedAtMs: RECEIVED_AT_MS - 100 * 3_600_000 });
  await store.keep(pixel(2));
  const answers = [FAULT, FAULT, RECORDED];
  await ship(store, () => answers.shift());
  expect(seen.slice(2)).toEqual(["given up: fault", "approved"]);
  await store.close();
});

test("the click of a coupon is recorded before its pixel is settled (TRK-037)", async () => {
  const store = new PixelStore({ folder, events });
  await store.keep(pixel(1));
  const recorded: Recorded[] = [];
  await ship(
    store,
    () => COUPON,
    () => store.waiting === 0,
    (click) => {
      expect(store.waiting).toBe(1);
      recorded.push(click);
    },
  );
  expect(recorded.map(({ lane }) => FOUR_LANES.clicks.includes(lane))).toEqual([true]);
  await store.close();
});

function pixel(name: number): PostbackRequest {
  return {
    endpoint: "px",
    params: { txid: String(name) },
    cookieClickId: "",
    host: "t.example",
    ip: "192.0.2.1",
    userAgent: "",
    receivedAtMs: RECEIVED_AT_MS,
    conversionId: "019a9d5e-0000-7000-8000-000000000000",
  };
}

function nameOf({ params }: PostbackRequest): string {
  return params["txid"] ?? "";
}

function files(): string[] {
  return readdirSync(folder);
}

/** Sends until `isDone`; returns what was sent. */
test("a pixel that a newer release has kept waits for that release and delays no other one (P39)", async () => {
  const store = new PixelStore({ folder, events });
  await store.keep(Object.assign(pixel(1), { endpoint: "next" }));
  await store.keep(pixel(2));
  const sent = await ship(
    store,
    () => RECORDED,
    () => seen.includes("approved"),
  );
  expect(sent).toMatchObject([{ params: pixel(2).params }]);
  expect(seen).toEqual(["kept", "kept", "approved"]);
  expect(files()).toHaveLength(1);
  await store.close();
});

test("a pixel that no release has read for days is given up", async () => {
  const store = new PixelStore({ folder, events });
  const receivedAtMs = RECEIVED_AT_MS - 73 * 3_600_000;
  await store.keep(Object.assign(pixel(1), { endpoint: "next", receivedAtMs }));
  expect(await ship(store, () => RECORDED)).toEqual([]);
  expect(seen).toEqual(["kept", "given up: fault"]);
  await store.close();
});

async function ship(
  store: PixelStore,
  answer: (report: PostbackRequest) => PostbackReply | undefined,
  isDone = () => store.waiting === 0,
  record: (click: Recorded) => void = () => undefined,
): Promise<PostbackRequest[]> {
  const sent: PostbackRequest[] = [];
  const end = new AbortController();
  const shipper = new PixelShipper({
    store,
    events,
    producer: 3,
    clock: { nowMs: () => RECEIVED_AT_MS },
    delayMsMin: 1,
    record: (click) => {
      record(click);
      return undefined;
    },
    ask: (report) => {
      sent.push(report);
      return Promise.resolve(answer(report));
    },
  });
  const running = shipper.run(end.signal);
  await expect.poll(isDone, { interval: 2, timeout: 5_000 }).toBe(true);
  end.abort();
  await running;
  return sent;
}
