import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";

const REPORTS = IS_FULL ? 20_000 : 800;
const SENDERS = 64;
const FIRST_KILL_MS = 150;
const KILL_EVERY_MS = IS_FULL ? 1_500 : 2_500;

test("caps of offers, groups and budgets are used exactly through kills (P17, LIFE-020, LIFE-021)", async (context) => {
  await using fleet = await ConversionFleet.open(3);
  const { world } = fleet;
  world.startWriters();
  const caps = Math.floor(REPORTS / 10);
  const offers = [
    await world.addOffer({ caps: { conversions: { total: caps } } }),
    await world.addOffer({
      caps: { conversions: { total: caps }, payout: { total: `${caps * 100}` } },
    }),
    await world.addOffer({ payout: "3.3333", caps: { payout: { total: "333.33" } } }),
    await world.addOffer(),
    await world.addOffer(),
  ];
  const [, , , one = 0, two = 0] = offers;
  await world.insert("offer_group", {
    workspace_id: world.workspaceId,
    name: "pair",
    offer_ids: [one, two],
    caps: { conversions: { total: caps } },
  });
  await world.change("update advertiser set budget_caps = $2 where id = $1", [
    world.advertiserId,
    JSON.stringify({ conversions: { total: 3 * caps } }),
  ]);
  await fleet.untilCurrent();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < REPORTS) {
      const number = next;
      next += 1;
      const click = world.addYoungClick({ offer_id: offers[number % offers.length] ?? 0 });
      await world.reportUntilAnswered({ click_id: click.click_id, txid: `t${number}` });
      world.young.delete(click.click_id);
    }
  };
  // The first kill comes early, so that it also hits the small run in CI.
  const killer = fleet.killInTurn({ firstMs: FIRST_KILL_MS, everyMs: KILL_EVERY_MS });
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await killer.stop();
  const passed = await world.rows<{ offer_id: number; passed: number; payout: string }>(
    `select offer_id, count(*) as passed, sum(payout) as payout from conversion where status = 'approved' group by offer_id`,
  );
  const countOf = (offerId: number): number =>
    passed.find(({ offer_id }) => offer_id === offerId)?.passed ?? 0;
  const total = passed.reduce((sum, row) => sum + row.passed, 0);
  const limits = [countOf(offers[0] ?? 0), countOf(offers[1] ?? 0), countOf(one) + countOf(two)];
  expect(fleet.kills).toBeGreaterThan(0);
  // The budget is below the sum of the caps, so it is used up and no cap is exceeded.
  expect(total).toBe(3 * caps);
  expect(Math.max(...limits)).toBeLessThanOrEqual(caps);
  expect(Number(passed.find(({ offer_id }) => offer_id === offers[2])?.payout)).toBeLessThanOrEqual(
    333.33,
  );
  reportCases(context, { cases: REPORTS, violations: Math.abs(total - 3 * caps) });
  const counters = await world.rows<{ cap: string; used: string }>(
    "select cap, used from cap_counter",
  );
  expect(counters.find(({ cap }) => cap.startsWith("advertiser/"))?.used).toBe(`${total}.0000`);
  const [database] = await world.rows<{ deadlocks: number }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  expect(database?.deadlocks).toBe(0);
});

test("one capped offer under all senders, with kills and restarts, passes exactly the cap (P17)", async (context) => {
  await using fleet = await ConversionFleet.open(3);
  const { world } = fleet;
  world.startWriters();
  const cap = Math.floor(REPORTS / 4);
  const offerId = await world.addOffer({
    caps: { conversions: { total: cap, daily: cap * 2 }, revenue: { monthly: "100000000" } },
  });
  await fleet.untilCurrent();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < REPORTS / 2) {
      next += 1;
      const click = world.addYoungClick({ offer_id: offerId });
      await world.reportUntilAnswered({ click_id: click.click_id });
      world.young.delete(click.click_id);
    }
  };
  // The first kill comes early, so that it also hits the small run in CI.
  const killer = fleet.killInTurn({ firstMs: FIRST_KILL_MS, everyMs: KILL_EVERY_MS });
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await killer.stop();
  const [row] = await world.rows(
    "select count(*) as passed, sum(revenue) as revenue from conversion where status = 'approved'",
  );
  reportCases(context, { cases: REPORTS / 2, violations: Math.abs(Number(row?.["passed"]) - cap) });
  expect(row).toEqual({ passed: cap, revenue: `${cap * 15}.0000` });
  const used = await world.rows("select used from cap_counter order by used");
  expect(used).toEqual([cap, cap, cap * 15].map((count) => ({ used: `${count}.0000` })));
});
