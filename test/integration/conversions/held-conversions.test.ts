import { afterEach, expect, test } from "vitest";
import { startSchedule } from "../../../processors/schedule/start.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { statusCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

const SOON = { timeout: 5_000, interval: 20 };
const HOLD = { hold_days: (1 / 86_400).toFixed(6) };
const running: { close(): Promise<void> }[] = [];

const world = await forThisFile(TrackingWorld.open());
afterEach(async () => {
  await Promise.all(running.splice(0).map((schedule) => schedule.close()));
});

function start(): void {
  const deps = {
    pool: world.pool,
    clickhouse: world.clickhouse,
    nats: world.nats,
    log: openLog({ process: "test", level: "silent" }),
    metrics: new Metrics(),
    signal: new AbortController().signal,
  };
  running.push(startSchedule(deps, { taskTickMs: 50, holdTickMs: 50 }));
}

async function held(params: Record<string, string> = {}): Promise<string> {
  const click = await world.addClick({ offer_id: await world.addOffer(HOLD) });
  const { body } = await world.report({ click_id: click.click_id, ...params });
  expect(body).toMatchObject({ status: "pending", reason: "hold" });
  return String(body["conversion_id"]);
}

test("a hold releases nothing that was or became pending for another reason (LIFE-002, LIFE-004, G230)", async () => {
  const pendingOf = async (
    fields: Record<string, unknown>,
    params: Record<string, string>,
  ): Promise<string> => {
    const click = await world.addClick({ offer_id: await world.addOffer({ ...HOLD, ...fields }) });
    const { body } = await world.report({ click_id: click.click_id, ...params });
    expect(body).toMatchObject({ ok: true, status: "pending" });
    return String(body["conversion_id"]);
  };
  const byDefault = await pendingOf({ default_status: "pending" }, {});
  const byReport = await pendingOf({}, { status: "pending" });
  const later = await held({ txid: "later" });
  await world.report({ conversion_id: later, status: "pending" });
  const released = await held();
  start();
  await expect
    .poll(async () => (await world.conversion(released))["status"], SOON)
    .toBe("approved");
  for (const id of [byDefault, byReport, later])
    expect(await world.conversion(id)).toMatchObject({ status: "pending", hold_until: null });
  expect(await world.conversion(later)).toMatchObject({ status_reason: "postback_update" });
});

test("a partner's block keeps his conversions from being approved by holds and reports (#36, G233)", async () => {
  const offerId = await world.addOffer();
  const click = (): Promise<{ click_id: string }> => world.addClick({ offer_id: offerId });
  const [old, rejected] = [await click(), await click()];
  await world.report({ click_id: rejected.click_id, status: "rejected" });
  const ofBlocked = await held();
  await world.addEvent(offerId, { code: "sale", name: "Sale" });
  await world.change("update affiliate set status = 'blocked' where id = $1", [world.affiliateId]);
  const waits = { ok: true, status: "pending", reason: "rule:partner_blocked" };
  expect((await world.report({ click_id: old.click_id, status: "approved" })).body).toMatchObject(
    waits,
  );
  expect((await world.report({ click_id: old.click_id, event: "sale" })).body).toMatchObject(waits);
  const again = { click_id: old.click_id, status: "approved" };
  expect((await world.report({ ...again, revenue: "9" })).body).toMatchObject(waits);
  const late = await world.report({ click_id: rejected.click_id, status: "approved" });
  expect(late.body).toMatchObject({ ...waits, updated: true });
  const pixel = await world.report({ click_id: (await click()).click_id }, { endpoint: "px" });
  expect(pixel.body).toMatchObject(waits);
  start();
  await expect
    .poll(async () => (await world.conversion(ofBlocked))["status_reason"], SOON)
    .toBe("rule:partner_blocked");
  expect(await world.conversion(ofBlocked)).toMatchObject({ status: "pending", hold_until: null });
  // Staff decide.
  await world.command(statusCommand(world, { ids: [ofBlocked], status: "approved" }));
  expect(await world.conversion(ofBlocked)).toMatchObject({ status: "approved" });
  await world.change("update affiliate set status = 'active' where id = $1", [world.affiliateId]);
  expect((await world.report({ ...again, revenue: "8" })).body).toMatchObject({
    status: "approved",
  });
});
