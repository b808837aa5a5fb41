import { expect, test } from "vitest";
import { ClickPathsWorld } from "../../../integration/ingress/click-paths-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const ATTEMPTS_MAX = 20;
/** Another process may record a coupon click 15 s after its report; rows are checked every 10 s. */
const PASSED_ON_MS = 75_000;

const world = await forThisFile(ClickPathsWorld.open());
const shop = await world.addTenant("shop");
const offerId = await world.addOffer(shop, "SHOP", { unique_per_click: false });
await world.store.insert("coupon", {
  workspace_id: shop.id,
  offer_id: offerId,
  affiliate_id: shop.affiliateId,
  code: "SAVE",
});
await world.untilCurrent();

async function clickIdOf(txid: string): Promise<string | undefined> {
  const [row] = await world.store.rows<{ click_id: string }>(
    "select click_id from conversion where adv_txid = $1",
    [txid],
  );
  return row?.click_id;
}

async function storedClicks(): Promise<string[]> {
  const answer = await world.store.clickhouse.query({
    query: "select lower(hex(click_id)) as id from click where link_type = 'coupon' order by id",
    format: "JSONEachRow",
  });
  return (await answer.json<{ id: string }>()).map(({ id }) => id);
}

async function wantedClicks(): Promise<number> {
  return (await world.store.rows("select click_id from coupon_click")).length;
}

/** Sends a report whose ingress is frozen before the commit and killed without having seen the reply. */
async function reportAndKill(txid: string): Promise<string | undefined> {
  const lock = await world.store.pool.connect();
  try {
    await lock.query({ text: "begin" });
    await lock.query({ text: "lock table conversion in share mode" });
    const query = `token=${shop.postbackToken}&coupon=SAVE&txid=${txid}`;
    const answer = world.ask(`/pb?${query}`).catch(() => undefined);
    await until(
      "the conversion waits for its commit",
      async () => {
        const waiting = await world.store.rows(
          `select pid from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%record_conversions%'`,
        );
        return waiting.length > 0;
      },
      { pollMs: 2 },
    );
    world.freezeIngress();
    await lock.query({ text: "rollback" });
    // Its wait may have timed out just before: then there is no conversion.
    const clickId = await until(
      "the conversion is committed or given up",
      async () => {
        const [busy] = await world.store.rows(
          `select pid from pg_stat_activity
           where datname = current_database() and state = 'active' and query like '%record_conversions%'
             and pid <> pg_backend_pid()`,
        );
        return busy === undefined ? ((await clickIdOf(txid)) ?? "none") : undefined;
      },
      { pollMs: 2 },
    );
    await world.killIngress();
    await answer;
    return clickId === "none" ? undefined : clickId;
  } finally {
    lock.release();
  }
}

test(
  "a coupon's conversion has its click once, also through kill -9 after its commit (#23, TRK-037)",
  async () => {
    const inTime = await world.ask(`/pb?token=${shop.postbackToken}&coupon=SAVE&txid=in-time`);
    expect(JSON.parse(inTime.body)).toMatchObject({ ok: true });
    let orphan: string | undefined;
    for (let attempt = 0; orphan === undefined && attempt < ATTEMPTS_MAX; attempt += 1)
      orphan = await reportAndKill(`killed-${attempt}`);
    expect(orphan).toMatch(/^[0-9a-f]{32}$/);
    const recorded = await clickIdOf("in-time");
    expect(await storedClicks()).not.toContain(orphan);
    await until("no click is missing", async () => (await wantedClicks()) === 0, {
      timeoutMs: PASSED_ON_MS,
    });
    const all = await world.store.rows<{ click_id: string }>(
      "select click_id from conversion where offer_id = $1 order by click_id",
      [offerId],
    );
    expect(all.map(({ click_id }) => click_id)).toContain(recorded);
    await until("all of them are stored", async () => (await storedClicks()).length >= all.length, {
      timeoutMs: 90_000,
    });
    expect(await storedClicks()).toEqual(all.map(({ click_id }) => click_id));
    const listed = await world.rest(`/clicks?limit=100&offer_id=${offerId}`, shop.adminKey);
    expect(JSON.stringify(listed)).toContain(orphan);
  },
  PASSED_ON_MS + 60_000,
);
