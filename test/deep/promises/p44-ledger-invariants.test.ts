import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { formatAmount } from "../../../schemas/money/amount.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { ApiWorld } from "../../integration/api/api-world.ts";
import { Books } from "../../integration/billing/books.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ChildServer } from "../../system/child-server.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { Calls } from "./ledger-model/calls.ts";
import { COMMANDS } from "./ledger-model/commands.ts";
import { textOf } from "./ledger-model/documents.ts";
import { sentStatus } from "./ledger-model/invoice-commands.ts";
import { ADVERTISER_TAX, LedgerModel, PARTNER_TAX } from "./ledger-model/ledger-model.ts";
import { givePaymentMethods } from "./ledger-model/payout-commands.ts";
import type { Sequence } from "./ledger-model/sequence.ts";
import { storedDocuments } from "./ledger-model/statement-commands.ts";

const SEQUENCES = IS_FULL ? 2_000 : 12;
const COMMANDS_EACH = 60;
/** Sequences that run at the same time, each in the books of its own workspace. */
const AT_A_TIME = 8;
const LANES = 3;
const CONVERSIONS = IS_FULL ? 1_000_000 : 10_000;
const PIECES = 20;
/** Sequences between two lines of progress. */
const SAID_EVERY = 200;
/** Conversions of a statement, which may take ten seconds. */
const PART = 20_000;
const KILL_MS = 700;
/** A command in this many is followed by an audit, which the end of each sequence has anyway. */
const AUDIT_EVERY = 20;
const KILLED = "api whose sessions end";

type Stage = { readonly world: ApiWorld; readonly pool: Pool };

/** Lanes as processes, one of which is killed with -9 again and again until `work` is done. So are sessions of the API. */
async function amongKills(work: (stage: Stage) => Promise<void>): Promise<number> {
  const world = await ApiWorld.open();
  const pool = openPool({ url: world.env.POSTGRES_URL, applicationName: KILLED });
  world.atEnd(() => pool.end());
  world.origin = await world.startAnother({ db: pool });
  const program = projectFile(".build", "test", "system", "ledger-process.js");
  const start = (): ChildServer =>
    ChildServer.spawn([process.execPath, program], { LOG_LEVEL: "error", ...world.env }, () => {});
  const lanes = Array.from({ length: LANES }, start);
  let isDone = false;
  let kills = 0;
  const killing = (async () => {
    while (!isDone) {
      await pause(KILL_MS);
      // On a busy machine a lane starts for seconds. If all were killed before they work, nothing would be posted.
      const connected = await world.rows(
        "select 1 from pg_stat_activity where datname = current_database() and application_name = 'test ledger'",
      );
      if (connected.length < 2) continue;
      const at = kills % LANES;
      lanes[at]?.signal("SIGKILL");
      lanes[at] = start();
      kills += 1;
      await world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = $1 and state <> 'idle' limit 1`,
        [KILLED],
      );
    }
  })();
  try {
    await work({ world, pool });
  } finally {
    isDone = true;
    await killing;
    await Promise.all(lanes.map((lane) => lane.end()));
    await world.close();
  }
  return kills;
}

/** Billing without a hold after a change of the payment method, and with tax for the second partner and the advertiser. */
async function prepare(books: Books): Promise<void> {
  await books.enable();
  await books.rows(
    `update billing_settings set payment_change_hold_hours = 0, legal = '{"name": "Network", "iban": "NL91ABNA0417164300"}'
     where workspace_id = $1`,
    [books.workspaceId],
  );
  const tax = { workspace_id: books.workspaceId, mode: "domestic", vat_id: "DE1" };
  await books.insert("tax_record", { ...tax, affiliate_id: books.partners[1], rate: PARTNER_TAX });
  await books.insert("tax_record", {
    ...tax,
    advertiser_id: books.advertiserId,
    rate: ADVERTISER_TAX,
  });
}

/** Runs one sequence in new books. Returns what does not hold. */
async function runSequence({ world, pool }: Stage, number: number): Promise<readonly unknown[]> {
  const random = randomOf(SEED + number);
  const roll = (below: number): number => Math.floor(random() * below);
  const books = await Books.within(world);
  await prepare(books);
  const { workspaceId } = books;
  const key = await insertKey(world.pool, { workspaceId, name: "model", role: "admin" });
  const calls = new Calls(world.origin, key, books);
  const model = new LedgerModel(books.partners);
  const sequence: Sequence = { books, calls, pool, model, runs: [], roll };
  const found: unknown[] = [];
  await givePaymentMethods(sequence);
  for (let place = 0; place < COMMANDS_EACH; place += 1) {
    const command = COMMANDS[roll(COMMANDS.length)];
    try {
      await command?.(sequence);
    } catch (error) {
      return [...found, { place, command: command?.name, error: String(error) }];
    }
    if (roll(AUDIT_EVERY) === 0) found.push(...(await books.audit()));
  }
  await books.untilPosted();
  found.push(...(await books.audit()));
  return [...found, ...(await differences(sequence))];
}

/** Where balances and documents differ from the model. */
async function differences(sequence: Sequence): Promise<readonly unknown[]> {
  const { books, model } = sequence;
  const { advertiserId, partners } = books;
  const said = {
    balances: await books.balances(),
    statements: await Promise.all(
      partners.map(async (id) =>
        (await storedDocuments(sequence, "statement", id)).map(({ text }) => text),
      ),
    ),
    invoices: (await storedDocuments(sequence, "invoice", advertiserId)).map(({ text }) => text),
    paid: (
      await books.rows<{ paid: string }>(
        `select paid::text from invoice where workspace_id = $1 and status <> 'void' and kind = 'invoice' order by to_seq, period_to`,
        [books.workspaceId],
      )
    ).map(({ paid }) => paid),
  };
  const paid = model.invoices.chain.map(({ id }) => model.payments.paid(id));
  const expected = {
    balances: model.balances(advertiserId, partners),
    statements: partners.map((id) => model.statementsOf(id).texts()),
    invoices: model.invoices.chain.map((one, at) => textOf(one, sentStatus(one, paid[at] ?? 0n))),
    paid: paid.map(formatAmount),
  };
  return isDeepStrictEqual(said, expected) ? [] : [{ said, expected }];
}

test("I1 to I8 hold after each random sequence, while lanes are killed (NP1, N42)", async (context) => {
  const wrong: unknown[] = [];
  const kills = await amongKills(async (stage) => {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < SEQUENCES) {
        const number = next;
        next += 1;
        const found = await runSequence(stage, number);
        if (found.length > 0) wrong.push({ sequence: number, found });
        if (next % SAID_EVERY === 0)
          process.stderr.write(`NP1: ${next} of ${SEQUENCES} sequences, ${wrong.length} wrong\n`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  });
  reportCases(context, { cases: SEQUENCES, violations: wrong.length });
  expect(wrong, `seed ${SEED}`).toEqual([]);
  expect(kills).toBeGreaterThan(3);
});

test("conversions queued twice and out of order are posted once (NP1, N39)", async (context) => {
  let differing = 0;
  await amongKills(async ({ world }) => {
    const books = await Books.within(world);
    await books.enable();
    await books.rows("update billing_settings set backfilled_to = 9223372036854775807");
    const sums = await fillConversions(books);
    for (let piece = 0; piece < 2 * PIECES; piece += 1)
      await books.rows(
        `insert into ledger_outbox (workspace_id, history_id)
         select $1, id from conversion_history where abs(hashint8(id + $3)) % $2 = $4 on conflict do nothing`,
        [books.workspaceId, PIECES, SEED % 1_000, (piece * 7) % PIECES],
      );
    await books.untilPosted(CONVERSIONS);
    const { advertiserId, partners } = books;
    const expected = {
      [`advertiser_receivable ${advertiserId} EUR`]: sums.revenue,
      [`partner_payable ${partners[0]} EUR`]: `-${sums.payouts[0]}`,
      [`partner_payable ${partners[1]} EUR`]: `-${sums.payouts[1]}`,
      "payout_cost EUR": sums.payout,
      "revenue EUR": `-${sums.revenue}`,
    };
    const said = await books.balances();
    const found = await books.audit();
    differing = found.length + Number(!isDeepStrictEqual(said, expected));
    reportCases(context, { cases: CONVERSIONS, violations: differing });
    expect(said, `seed ${SEED}`).toEqual(expected);
    expect(found, `seed ${SEED}`).toEqual([]);
  });
});

type Sums = {
  readonly payout: string;
  readonly revenue: string;
  readonly payouts: readonly [string, string];
};

/** The conversions after `done`, at most {@link PART}, with their history. */
async function fillPart(books: Books, done: number): Promise<void> {
  const { workspaceId, offerId, partners, advertiserId } = books;
  const to = Math.min(done + PART, CONVERSIONS);
  await books.rows(
    `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status,
       revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts, holds_click, holds_txid, version)
     select (lpad(to_hex(1790000000000 + n * 20::bigint), 12, '0') || '7' || substr(md5($1::integer || '/' || n), 1, 3) || '8'
         || substr(md5($1::integer || '/' || n), 4, 15))::uuid, $1::integer, $2, (array[$3, $4]::integer[])[1 + n % 2], $5, 1, 'default', false,
       case when n % 10 = 0 then 'rejected' else 'approved' end, n * 0.0003, n * 0.0001 + case when n % 3 = 0 then 1 else 0 end,
       'EUR', 'cpa', 1, 'rpa', 1, 's2s', now(), false, false, n
     from generate_series($6::integer, $7::integer) n`,
    [workspaceId, offerId, ...partners, advertiserId, done + 1, to],
  );
  await books.rows(
    `insert into conversion_history (conversion_id, actor, from_status, to_status, from_revenue, to_revenue, from_payout, to_payout,
       to_sale_amount)
     select c.id, 'api', s.from_status, s.to_status, s.from_revenue, c.revenue, s.from_payout, s.to_payout, 0
     from conversion c
     cross join lateral (values
       (1, null, 'approved', null, null, c.version * 0.0001),
       (2, 'approved', 'approved', c.revenue, c.version * 0.0001, c.payout),
       (3, 'approved', 'rejected', c.revenue, c.payout, c.payout)) as s(step, from_status, to_status, from_revenue, from_payout, to_payout)
     where c.version > $1 and c.version <= $2
       and (s.step = 1 or s.step = 2 and c.version % 3 = 0 or s.step = 3 and c.version % 10 = 0)`,
    [done, to],
  );
}

/** Conversions that were approved at first; every third got another payout, every tenth was rejected in the end. */
async function fillConversions(books: Books): Promise<Sums> {
  for (let done = 0; done < CONVERSIONS; done += PART) await fillPart(books, done);
  let [revenue, payout] = [0n, 0n];
  const payouts: [bigint, bigint] = [0n, 0n];
  for (let n = 1n; n <= BigInt(CONVERSIONS); n += 1n) {
    if (n % 10n === 0n) continue;
    const earned = n + (n % 3n === 0n ? 10_000n : 0n);
    revenue += 3n * n;
    payout += earned;
    payouts[Number(n % 2n)] = (payouts[Number(n % 2n)] ?? 0n) + earned;
  }
  const shown = formatAmount;
  return {
    revenue: shown(revenue),
    payout: shown(payout),
    payouts: [shown(payouts[0]), shown(payouts[1])],
  };
}
