import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 1_000 : 20;
const SENDERS = 64;
const KEYS = IS_FULL ? 2_000 : 100;

test("of 64 senders of one click and event, or one order, exactly one counts (P16, LIFE-006, LIFE-007)", async (context) => {
  await using fleet = await ConversionFleet.open(3);
  const { world } = fleet;
  world.startWriters();
  const offerId = await world.addOffer();
  await fleet.untilCurrent();
  const wrong: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const isOrder = round % 2 === 1;
    const click = world.addYoungClick({ offer_id: offerId });
    const replies = await Promise.all(
      Array.from({ length: SENDERS }, () => {
        const click_id = isOrder
          ? world.addYoungClick({ offer_id: offerId }).click_id
          : click.click_id;
        return world.reportUntilAnswered(
          isOrder ? { click_id, txid: `order-${round}` } : { click_id },
        );
      }),
    );
    const results = replies.map(({ result }) => result);
    const approved = results.filter((result) => result === "approved").length;
    const duplicates = results.filter((result) => result === "duplicate").length;
    // A sender whose answer was lost may repeat its own accepted report: then no reply is "approved".
    if (approved > 1 || approved + duplicates !== SENDERS)
      wrong.push(`round ${round}: ${approved} approved, ${duplicates} duplicates of ${SENDERS}`);
    if (round % 50 === 0) world.young.clear();
  }
  reportCases(context, { cases: ROUNDS, violations: wrong.length });
  expect(wrong).toEqual([]);
  const counted = await world.rows(
    `select coalesce(adv_txid, click_id) as key, count(*) as counted from conversion
     where status <> 'rejected' group by 1`,
  );
  expect(counted).toHaveLength(ROUNDS);
  expect(counted.filter((row) => row["counted"] !== 1)).toEqual([]);
});

test("every idempotency key records once while processors are killed with kill -9 (P16, #4, G203)", async (context) => {
  await using fleet = await ConversionFleet.open(3);
  const { world } = fleet;
  const offerId = await world.addOffer();
  await fleet.untilCurrent();
  const keys = Array.from({ length: KEYS }, (_, at) => `key-${at}`);
  const send = async (key: string): Promise<string> =>
    JSON.stringify(
      await world.reportUntilAnswered({
        offer_id: String(offerId),
        aff_id: "PARTNR",
        amount: "1",
        idempotency_key: key,
      }),
    );
  let waiting = keys.length;
  const sent = Promise.all(
    keys.map(async (key) => {
      const replies = await Promise.all(Array.from({ length: 4 }, () => send(key)));
      replies.push(await send(key));
      waiting -= 1;
      return new Set(replies).size;
    }),
  );
  while (waiting > 0 && fleet.kills < KEYS) {
    const before = waiting;
    fleet.killOne();
    await fleet.untilCurrent();
    await until(
      "some keys are answered",
      () => Promise.resolve(waiting === 0 || waiting < before),
      {
        timeoutMs: 60_000,
        pollMs: 5,
      },
    );
  }
  const answers = await sent;
  const rows = await world.rows("select id from conversion where offer_id = $1", [offerId]);
  const violations = answers.filter((answer) => answer !== 1).length + Math.abs(rows.length - KEYS);
  reportCases(context, { cases: KEYS, violations });
  expect([rows.length, new Set(answers)]).toEqual([KEYS, new Set([1])]);
});
