import { expect, test } from "vitest";
import { purgeRateWindows, RateLimiter } from "../../../api/access/rate-limiter.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, refusal } from "./api-world.ts";
import { freshWindow } from "./fresh-window.ts";

const LIMIT = 60;

const world = await forThisFile(ApiWorld.open({ rateLimit: LIMIT }));

test("two processes together serve exactly the budget of concurrent requests (LIM-001, LIM-002, P32)", async () => {
  const other = await world.startAnother({ rateLimit: LIMIT });
  await freshWindow(world);
  const { admin, analyst } = world.tenant.keys;
  const answers = await Promise.all(
    Array.from({ length: LIMIT * 3 }, async (_, index) => {
      return await world.callAt(index % 2 === 0 ? world.origin : other, "GET", "/me", {
        key: admin,
      });
    }),
  );
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([served.length, refused.length]).toEqual([LIMIT, LIMIT * 2]);
  const remaining = served
    .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")))
    .sort((a, b) => a - b);
  expect(remaining).toEqual(Array.from({ length: LIMIT }, (_, index) => index));
  for (const answer of refused) {
    expect(refusal(answer)).toBe("429 rate_limited");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(answer.headers.get("retry-after")).toBe(answer.headers.get("x-ratelimit-reset"));
  }
  expect((await world.get("/me", analyst)).headers.get("x-ratelimit-remaining")).toBe(
    String(LIMIT - 1),
  );
});

test("a new window has the whole budget (LIM-003)", async () => {
  await freshWindow(world);
  for (let count = 0; count <= LIMIT; count += 1) await world.get("/me");
  expect((await world.get("/me")).status).toBe(429);
  await world.pool.query({
    text: "update rate_window set window_start = window_start - interval '1 minute'",
  });
  expect((await world.get("/me")).headers.get("x-ratelimit-remaining")).toBe(String(LIMIT - 1));
});

test("a window of a clock an hour ahead does not refuse requests for that hour (#11)", async () => {
  await freshWindow(world);
  for (let count = 0; count <= LIMIT; count += 1) await world.get("/me");
  expect((await world.get("/me")).status).toBe(429);
  await world.pool.query({
    text: "update rate_window set window_start = window_start + interval '1 hour'",
  });
  expect((await world.get("/me")).headers.get("x-ratelimit-remaining")).toBe(String(LIMIT - 1));
});

test("a purge deletes windows that have ended, never one that a request counts in (G11, P32)", async () => {
  await freshWindow(world);
  await world.pool.query({
    text: `insert into rate_window (holder, window_start, used)
           select holder, now() - interval '1 hour', 5 from unnest(array['in use', 'unused']) holder`,
  });
  await inTransaction(world.pool, async (tx) => {
    await new RateLimiter(tx, LIMIT).count("in use");
    // Never waits, so it cannot be part of a deadlock.
    await purgeRateWindows(world.pool);
  });
  const { rows } = await world.pool.query({ text: "select holder, used from rate_window" });
  expect(rows).toEqual([{ holder: "in use", used: 1 }]);
});

test("each request costs one, also refused ones; /me equals the headers (LIM-004, ME-007, ME-008)", async () => {
  await freshWindow(world);
  const first = await world.get("/me");
  await world.get("/nope");
  const third = await world.get("/me");
  const left = ({ headers }: typeof first) => Number(headers.get("x-ratelimit-remaining"));
  expect(left(first) - left(third)).toBe(2);
  expect(third.body["data"]).toMatchObject({
    rate_limit: {
      limit: LIMIT,
      remaining: left(third),
      reset_sec: Number(third.headers.get("x-ratelimit-reset")),
    },
  });
});

test("requests without a key have a budget of their address (G11)", async () => {
  await freshWindow(world);
  const left = async (key: string | undefined) => {
    const answer = await world.call("GET", "/me", { key });
    expect(answer.status).toBe(401);
    return Number(answer.headers.get("x-ratelimit-remaining"));
  };
  expect([await left(undefined), await left("nonsense")]).toEqual([LIMIT - 1, LIMIT - 2]);
  for (let count = 0; count < LIMIT; count += 1) await left(undefined);
  expect(await left(undefined)).toBe(0);
  expect(refusal(await world.call("GET", "/openapi.json", { key: undefined }))).toBe(
    "429 rate_limited",
  );
  expect((await world.get("/me")).status).toBe(200);
});

test("a write over the budget leaves no entry in the audit log, one within it does (G177, P40)", async () => {
  await freshWindow(world);
  const { partner } = world.tenant.keys;
  const answers = await Promise.all(
    Array.from({ length: LIMIT * 2 }, async () => await world.post("/offers", {}, partner)),
  );
  const refusals = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([refusals(403), refusals(429)]).toEqual([LIMIT, LIMIT]);
  expect(
    await world.rows("select status, count(*)::integer as entries from audit_log group by status"),
  ).toEqual([{ status: 403, entries: LIMIT }]);
});
