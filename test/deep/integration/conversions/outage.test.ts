import { afterAll, beforeAll, expect, test } from "vitest";
import type { InboundCall, InboundReply } from "../../../../schemas/events/inbound-call.ts";
import { statusCommand } from "../../../integration/conversions/staff-commands.ts";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { serverUrls } from "../../../services/stores.ts";
import { randomOf, SEED } from "../../../system/seed.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";

const ONCE = { isSentOnce: true };

let gate: TcpGate;
let clickhouseGate: TcpGate;
let world: TrackingWorld;
beforeAll(async () => {
  const urls = serverUrls();
  gate = await TcpGate.open(urls.postgres);
  clickhouseGate = await TcpGate.open(urls.clickhouse);
  const servers = {
    ...urls,
    postgres: gate.urlOf(urls.postgres),
    clickhouse: clickhouseGate.urlOf(urls.clickhouse),
  };
  world = await TrackingWorld.open({ servers });
  world.startWriters();
  await world.nats.connection.flush();
});
afterAll(async () => {
  await world.close();
  await gate.shut();
  await clickhouseGate.shut();
});

test("without ClickHouse young clicks convert, and an old one is an outage (P12, G162)", async () => {
  const offerId = await world.addOffer();
  const old = await world.addClick({ offer_id: offerId, gclid: "old", ageMs: 3 * 86_400_000 });
  const young = Array.from({ length: 20 }, () => world.addYoungClick({ offer_id: offerId }));
  await clickhouseGate.shut();
  const replies = await Promise.all(
    young.map((click) => world.report({ click_id: click.click_id })),
  );
  expect(replies.map((reply) => reply.result)).toEqual(young.map(() => "approved"));
  const byOld = [{ click_id: old.click_id }, { gclid: "old" }];
  for (const reply of await Promise.all(byOld.map((params) => world.report(params, ONCE)))) {
    expect(reply).toMatchObject({ httpStatus: 503, result: "unavailable" });
  }
  await clickhouseGate.open();
  expect((await world.report({ gclid: "old" })).result).toBe("approved");
});

test("without Postgres reports and commands are 503, and repeats count once (P15, PB-054)", async () => {
  const offerId = await world.addOffer();
  const clicks = Array.from({ length: 20 }, () => world.addYoungClick({ offer_id: offerId }));
  await gate.shut();
  const refused = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id }, ONCE)),
  );
  for (const reply of refused) {
    expect(reply).toEqual({
      httpStatus: 503,
      result: "unavailable",
      body: { ok: false, error: "temporarily unavailable" },
    });
  }
  const pixel = await world.report(
    { click_id: clicks[0]?.click_id ?? "" },
    { ...ONCE, endpoint: "px" },
  );
  expect(pixel).toMatchObject({ httpStatus: 503, result: "unavailable" });
  // The token may be new: without Postgres it cannot be called unknown.
  const unknown = await world.report(
    { token: "unknown", click_id: clicks[0]?.click_id ?? "" },
    ONCE,
  );
  expect(unknown).toMatchObject({ httpStatus: 503, result: "unavailable" });
  const ids = ["1a1b1c1d-0000-4000-8000-000000000000"];
  expect(
    await world.command(statusCommand(world, { ids, bulk: true, status: "approved" })),
  ).toEqual({ kind: "unavailable" });
  await gate.open();
  const repeated = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id })),
  );
  expect(repeated.map((reply) => reply.result)).toEqual(clicks.map(() => "approved"));
});

test("reports cut off at any moment and repeated until answered count once each (P14, P16)", async () => {
  const offerId = await world.addOffer();
  const clicks = Array.from({ length: 40 }, () => world.addYoungClick({ offer_id: offerId }));
  let isCutting = true;
  const random = randomOf(SEED);
  const cutting = (async () => {
    for (let cut = 0; cut < 10; cut += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20 + random() * 60);
      });
      await gate.shut();
      await gate.open();
    }
    isCutting = false;
  })();
  const answers = await Promise.all(
    clicks.map(async (click) => {
      const words: string[] = [];
      for (;;) {
        const reply = await world.report({ click_id: click.click_id }, ONCE);
        words.push(reply.result);
        if (reply.result !== "unavailable" && !isCutting) return words;
      }
    }),
  );
  await cutting;
  for (const words of answers) {
    const approved = words.filter((word) => word === "approved");
    expect(approved.length, `SEED=${SEED}`).toBeLessThanOrEqual(1);
    expect(["approved", "duplicate", "unavailable"]).toEqual(expect.arrayContaining(words));
  }
  const counted = await world.rows(
    "select click_id from conversion where offer_id = $1 and status = 'approved'",
    [offerId],
  );
  expect(counted, `SEED=${SEED}`).toHaveLength(clicks.length);
});

test("without Postgres refused calls are logged later, except unreadable ones (PB-064, G178)", async () => {
  const call: InboundCall = {
    endpoint: "pb",
    workspaceId: world.workspaceId,
    receivedAtMs: Date.now(),
    ip: "",
    params: { adv1: "logged" },
    httpStatus: 405,
    result: "method_not_allowed",
    clickId: null,
    message: "method not allowed",
  };
  const { connection, subjects } = world.nats;
  const send = async (calls: unknown): Promise<InboundReply["kind"]> => {
    const options = { timeout: 20_000 };
    const reply = await connection.request(subjects.inboundCalls, JSON.stringify(calls), options);
    return reply.json<InboundReply>().kind;
  };
  const { click_id } = world.addYoungClick({ offer_id: await world.addOffer() });
  await gate.shut();
  expect(await send([call])).toBe("unavailable");
  expect((await world.report({ click_id, adv1: "deferred" }, ONCE)).httpStatus).toBe(503);
  await gate.open();
  await expect.poll(() => send([call]), { timeout: 10_000 }).toBe("kept");
  const stored = "select result from postback_log where params ->> 'adv1' = $1";
  expect(await world.rows(stored, ["logged"])).toEqual([{ result: "method_not_allowed" }]);
  // It is stored without another call.
  await expect
    .poll(() => world.rows(stored, ["deferred"]), { timeout: 10_000 })
    .toEqual([{ result: "unavailable" }]);
  expect(await send([{ ...call, httpStatus: "405" }])).toBe("refused");
});
