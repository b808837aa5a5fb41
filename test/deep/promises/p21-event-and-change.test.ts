import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";

const KILLS = IS_FULL ? 500 : 10;
const SENDERS = 8;
/** Each conversion has four. */
const CHANGES = KILLS * 8;

const random = randomOf(SEED);

test("a change and its deliveries are one commit, through kill -9 of processors and sessions (P21)", async (context) => {
  await using fleet = await ConversionFleet.open(2);
  const { world } = fleet;
  world.startWriters();
  const offerId = await world.addOffer();
  for (const fire_on of ["approved", "any", "reversal"]) {
    await world.insert("postback", {
      workspace_id: world.workspaceId,
      offer_id: offerId,
      fire_on,
      url: "http://partner.example/",
    });
  }
  await world.insert("webhook", {
    workspace_id: world.workspaceId,
    name: "all",
    url: "http://hooks.example/",
    events: ["conversion.created", "conversion.updated"],
    secret: `whsec_${"0".repeat(48)}`,
  });
  await fleet.untilCurrent();
  let isEnding = false;
  let changes = 0;
  let answered = 0;
  /** Reports new conversions one after another, and changes each three times. */
  const send = async (): Promise<void> => {
    while (!isEnding) {
      const { click_id } = world.addYoungClick({ offer_id: offerId });
      for (const status of ["approved", "rejected", "approved", "pending"]) {
        await world.reportUntilAnswered({ click_id, status });
        changes += 1;
      }
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, send));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(250 + random() * 1_000);
    if (kill % 2 === 0) {
      // On a busy machine a process takes longer to start than to be killed again, and then nobody would answer.
      await until("a change is answered", () => changes > answered, {
        timeoutMs: 60_000,
        pollMs: 10,
      });
      answered = changes;
      fleet.killOne();
    } else {
      await world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'tracker processors' and datname = current_database()`,
      );
    }
  }
  await until("enough changes are answered", () => changes >= CHANGES, { timeoutMs: 120_000 });
  isEnding = true;
  await senders;

  // The postbacks that each conversion must have caused, computed from its history alone.
  const due = await world.rows<{ fired: string }>(
    `select distinct h.conversion_id || ' ' || p.fire_on || ' ' ||
       case p.fire_on when 'reversal' then 'reversal' else h.to_status end as fired
     from conversion_history h, postback p
     where case p.fire_on
             when 'any' then h.to_status is distinct from h.from_status
             when 'approved' then h.to_status = 'approved' and h.to_status is distinct from h.from_status
             else h.from_status = 'approved' and h.to_status = 'rejected'
           end`,
  );
  const sent = await world.rows<{ fired: string }>(
    `select d.conversion_id || ' ' || p.fire_on || ' ' || d.trigger as fired
     from delivery d join postback p on p.id = d.endpoint_id where d.kind = 'postback'`,
  );
  const dueDocuments = await world.rows<{ fired: string }>(
    `select h.conversion_id || case when h.from_status is null then ' conversion.created ' else ' conversion.updated ' end
       || concat_ws(' ', h.from_status, h.from_payout, h.to_status, h.to_payout) as fired
     from conversion_history h
     where (h.from_status, h.from_revenue, h.from_payout, h.from_sale_amount)
       is distinct from (h.to_status, h.to_revenue, h.to_payout, h.to_sale_amount)`,
  );
  const documents = await world.rows<{ fired: string; id: string }>(
    `select concat_ws(' ', t.body -> 'data' ->> 'id', t.body ->> 'event', t.body -> 'previous' ->> 'status',
         t.body -> 'previous' ->> 'payout', t.body -> 'data' ->> 'status', t.body -> 'data' ->> 'payout') as fired,
       t.body ->> 'id' as id
     from delivery d cross join lateral (select (d.facts ->> 'body')::jsonb as body) t where d.kind = 'webhook'`,
  );
  const known = await world.rows("select id from conversion");
  const orphans = await world.rows(
    "select d.id from delivery d where not exists (select from conversion c where c.id = d.conversion_id)",
  );
  reportCases(context, { cases: changes, violations: orphans.length });
  expect(orphans).toEqual([]);
  expect(known.length).toBeGreaterThan(KILLS);
  const sorted = (rows: readonly { fired: string }[]) => rows.map(({ fired }) => fired).toSorted();
  expect(sorted(sent)).toEqual(sorted(due));
  expect(sorted(documents)).toEqual(sorted(dueDocuments));
  expect(new Set(documents.map(({ id }) => id)).size).toBe(documents.length);
  process.stdout.write(
    `P21: ${KILLS} kills, ${changes} answered changes of ${known.length} conversions, ${sent.length} postbacks, ${documents.length} documents\n`,
  );
});
