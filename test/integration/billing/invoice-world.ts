import assert from "node:assert";
import { z } from "zod";
import { closeInvoices } from "../../../schemas/billing/close-invoices.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import { pause } from "../../system/service.ts";
import { type Answer, ApiWorld, type Json, record, type Tenant } from "../api/api-world.ts";

const Id = z.object({ id: z.int() });
let facts = 0;

/** What is posted to the account of an advertiser. */
export type Revenue = {
  readonly amount: string;
  readonly currency?: string;
  readonly advertiserId?: number;
  readonly offerId?: number;
  readonly eventCode?: string;
  readonly count?: number;
  readonly kind?: "conversion" | "clicks" | "adjustment";
  readonly conversionId?: string;
};

/** The API with advertisers to whom revenue is posted without conversions. */
export class InvoiceWorld {
  readonly api: ApiWorld;

  private constructor(api: ApiWorld) {
    this.api = api;
  }

  static async open(): Promise<InvoiceWorld> {
    const world = new InvoiceWorld(await ApiWorld.open());
    await world.enableBilling(world.api.tenant.workspaceId);
    return world;
  }

  async close(): Promise<void> {
    await this.api.close();
  }

  async enableBilling(workspaceId: number): Promise<void> {
    await this.api.pool.query({
      text: `insert into billing_settings (workspace_id, enabled, starts_on, legal)
             values ($1, true, '2020-01-01', '{"name": "Network <Ltd>", "vat_id": "DE1", "iban": "DE89370400440532013000"}')`,
      values: [workspaceId],
    });
  }

  get tenant(): Tenant {
    return this.api.tenant;
  }

  /** An advertiser of its own for a test. */
  async advertiser(fields: Json = {}): Promise<number> {
    const made = await this.api.post("/advertisers", { name: "Shop", ...fields });
    assert.equal(made.status, 201, made.text);
    return Id.parse(made.body["data"]).id;
  }

  /** Revenue, in the order given. Answers nothing: an invoice shows it. */
  async revenue(...posted: readonly Revenue[]): Promise<void> {
    for (const one of posted) {
      facts += 1;
      const sourceId = String(facts);
      const amount = amountOf(one.amount);
      const currency = one.currency ?? "EUR";
      const fact = {
        currency,
        offerId: one.offerId,
        eventCode: one.eventCode ?? "default",
        conversionId: one.conversionId,
        count: one.count ?? (amount < 0n ? -1 : 1),
      };
      await inTransaction(this.api.pool, (tx) =>
        postLedger(tx, this.tenant.workspaceId, [
          {
            kind: one.kind ?? "conversion",
            sourceKind: "test",
            sourceId,
            entries: [
              {
                ...fact,
                account: "advertiser_receivable",
                ownerId: one.advertiserId ?? this.tenant.advertiserId,
                amount,
              },
              { ...fact, account: "revenue", ownerId: 0, amount: -amount },
            ],
          },
        ]),
      );
    }
  }

  /** Closes everything that was posted until now. */
  async closeNow(advertiserId: number, more: Json = {}): Promise<Json[]> {
    const until = await this.nowAfterAll();
    const answer = await this.api.post("/invoices/close", {
      advertiser_id: advertiserId,
      until,
      ...more,
    });
    assert.equal(answer.status, 200, answer.text);
    return z
      .object({ invoices: z.array(z.record(z.string(), z.unknown())) })
      .parse(answer.body["data"]).invoices;
  }

  /** The entries behind a line of an invoice. */
  async entries(path: string): Promise<Json[]> {
    const answer = await this.api.get(path);
    return z.array(z.record(z.string(), z.unknown())).parse(answer.body["data"]);
  }

  /** An instant after everything that was posted: what is posted in the instant itself would be left out. */
  async nowAfterAll(): Promise<string> {
    const [last] = await this.rows(
      "select coalesce((extract(epoch from max(last_posted_at)) * 1000)::bigint, 0) as ms from ledger_balance where last_seq > 0",
    );
    while (Date.now() <= Number(last?.["ms"])) await pause(1);
    return new Date().toISOString();
  }

  /** One draft of these amounts. */
  async draft(advertiserId: number, ...amounts: readonly string[]): Promise<number> {
    await this.revenue(...amounts.map((amount) => ({ amount, advertiserId })));
    const [made] = await this.closeNow(advertiserId);
    return Id.parse(made).id;
  }

  async sent(advertiserId: number, ...amounts: readonly string[]): Promise<Json & { id: number }> {
    const id = await this.draft(advertiserId, ...amounts);
    return { ...(await this.done(`/invoices/${id}/approve`)), id };
  }

  /** A POST that succeeds; answers the record. */
  async done(path: string, body?: unknown): Promise<Json> {
    const answer = await this.api.post(path, body);
    assert(answer.status < 300, answer.text);
    return record(answer);
  }

  async pay(advertiserId: number, amount: string, more: Json = {}): Promise<Answer> {
    facts += 1;
    return await this.api.post("/payments", {
      advertiser_id: advertiserId,
      currency: "EUR",
      amount,
      external_id: `bank-${facts}`,
      received_at: "2026-01-05T00:00:00.000Z",
      ...more,
    });
  }

  async invoice(id: unknown): Promise<Json> {
    return record(await this.api.get(`/invoices/${String(id)}`));
  }

  /** Closes the periods that will have ended in some days, as the recurring task does. */
  async closeAhead(days: number): Promise<number> {
    const { invoices } = await closeInvoices(this.api.pool, {
      workspaceId: this.tenant.workspaceId,
      timezone: "UTC",
      endedByMs: Date.now() + days * DAY_MS,
      isDryRun: false,
      invoicesMax: 100,
    });
    return invoices.length;
  }

  async rows(text: string, ...values: readonly unknown[]): Promise<Json[]> {
    return (await this.api.pool.query<Json>({ text, values })).rows;
  }

  /**
   * What an account has must be what its documents say: not invoiced yet, carried out of the last, drafts, what is open, less what payments have
   * left (I5); ranges adjoin (I6); lines add up (I7).
   */
  async expectInBalance(): Promise<void> {
    assert.deepEqual(
      await this.rows(`
        select a.id, b.balance, x.expected from ledger_account a join ledger_balance b on b.account_id = a.id
        cross join lateral (
          select
            (select coalesce(sum(e.amount), 0) from ledger_entry e where e.account_id = a.id
              and e.kind not in ('invoice_tax', 'payment', 'credit_note')
              and e.seq > coalesce((select max(to_seq) from invoice i where i.account_id = a.id and i.status <> 'void'), 0))
            + coalesce((select carried_out from invoice i where i.account_id = a.id and i.kind = 'invoice' and i.status <> 'void'
                order by to_seq desc, period_to desc limit 1), 0)
            + (select coalesce(sum(case when status = 'draft' then payable else gross - paid end), 0) from invoice i
                where i.account_id = a.id and i.kind = 'invoice' and i.status in ('draft', 'sent', 'part_paid'))
            - (select coalesce(sum(p.amount), 0) from advertiser_payment p where p.advertiser_id = a.owner_id and p.currency = a.currency
                and not exists (select from advertiser_payment_reversal r where r.payment_id = p.id))
            + (select coalesce(sum(l.amount), 0) from payment_allocation l join advertiser_payment p on p.id = l.payment_id
                where p.advertiser_id = a.owner_id and p.currency = a.currency) as expected) x
        where a.kind = 'advertiser_receivable' and b.balance <> x.expected`),
      [],
    );
    assert.deepEqual(
      await this.rows(`select i.id from invoice i where i.total <> i.carried_in
        + (select coalesce(sum(amount), 0) from invoice_line l where l.invoice_id = i.id)`),
      [],
    );
    assert.deepEqual(
      await this.rows(`select i.id from invoice i where i.paid <>
        (select coalesce(sum(amount), 0) from payment_allocation l where l.invoice_id = i.id)`),
      [],
    );
  }
}
