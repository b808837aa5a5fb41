import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import { operations } from "../../../api/operations.ts";
import { until } from "../../system/until.ts";
import type { Answer, ApiWorld, Json } from "../api/api-world.ts";
import { record } from "../api/api-world.ts";
import { adjust } from "./billing-world.ts";
import { InvoiceWorld } from "./invoice-world.ts";
import { approvedStatement } from "./statement-rows.ts";
import { UpdateCalls } from "./update-calls.ts";

/** One request that succeeds. */
export type Write = {
  readonly path: string;
  readonly body?: Json;
  /** A file. */
  readonly raw?: string;
  readonly key?: string;
};

const MONEY_TAGS: ReadonlySet<string> = new Set(["Billing", "Payouts"]);
const WIRE = { holder: "Anna Example", iban: "DE89370400440532013000" };
const EXECUTION = { currency: "EUR", execution_date: "2026-12-15" };
const CURRENCY = "EUR";

/** Every operation of Billing and Payouts that changes something. */
export const moneyWrites: readonly Operation[] = operations.filter(
  ({ tag, access }) => MONEY_TAGS.has(tag) && access.isWrite,
);

const Run = z.looseObject({
  id: z.int(),
  lines: z.array(z.looseObject({ reference: z.string() })),
  held: z.array(z.looseObject({ id: z.int() })),
});

/** Makes, for every write of the money side, a request that succeeds once, on records of its own. */
export class MoneyWrites {
  readonly world: InvoiceWorld;
  readonly api: ApiWorld;
  readonly #updates: UpdateCalls;
  #made = 0;
  #offer = 0;

  private constructor(world: InvoiceWorld) {
    this.world = world;
    this.api = world.api;
    this.#updates = new UpdateCalls(world.api, world.tenant);
  }

  static async open(): Promise<MoneyWrites> {
    const writes = new MoneyWrites(await InvoiceWorld.open());
    writes.#offer = (await writes.api.offer({ code: "SHOES" })).id;
    return writes;
  }

  async close(): Promise<void> {
    await this.world.close();
  }

  /** By the name of the operation. */
  readonly make: Readonly<Record<string, () => Promise<Write>>> = {
    updateBillingSettings: async () => ({
      path: "/billing-settings",
      body: { default_tax_text: await Promise.resolve(this.#next("text")) },
    }),
    createAdjustment: async () => ({ path: "/adjustments", body: await this.#adjustment() }),
    reverseAdjustment: async () => ({ path: `/adjustments/${await this.#adjusted()}/reverse` }),
    closeStatements: async () => ({
      path: "/statements/close",
      body: { affiliate_id: await this.#owed(), until: today() },
    }),
    closeOwnStatement: async () => {
      const id = await this.#owed({ payment_terms: "on_request" });
      return { path: "/me/statements/close", body: {}, key: await this.#keyOf(id) };
    },
    approveStatement: async () => ({ path: `/statements/${await this.#draft()}/approve` }),
    approveStatements: async () => ({
      path: "/statements/approve",
      body: { ids: [await this.#draft(), await this.#draft()] },
    }),
    voidStatement: async () => ({ path: `/statements/${await this.#draft()}/void` }),
    closeInvoices: async () => {
      const advertiserId = await this.world.advertiser();
      await this.world.revenue({ amount: "12", advertiserId });
      const end = await this.world.nowAfterAll();
      return { path: "/invoices/close", body: { advertiser_id: advertiserId, until: end } };
    },
    approveInvoice: async () => ({ path: `/invoices/${await this.#invoice()}/approve` }),
    voidInvoice: async () => ({ path: `/invoices/${await this.#invoice()}/void` }),
    creditInvoice: async () => {
      const { id } = await this.world.sent(await this.world.advertiser(), "30");
      return { path: `/invoices/${id}/credit`, body: { reason: "agreed" } };
    },
    createPayment: async () => ({
      path: "/payments",
      body: {
        advertiser_id: await this.world.advertiser(),
        currency: CURRENCY,
        amount: "5",
        external_id: this.#next("wire"),
        received_at: "2026-01-05T00:00:00.000Z",
      },
    }),
    reversePayment: async () => {
      const { id } = record(await this.world.pay(await this.world.advertiser(), "5"));
      return { path: `/payments/${id}/reverse`, body: { reason: "typed twice" } };
    },
    setAdvertiserTax: async () => ({
      path: `/advertisers/${await this.world.advertiser()}/tax`,
      body: { mode: "domestic", rate: "19", country: "DE" },
    }),
    createPayoutRun: async () => ({
      path: "/payout-runs",
      body: { ...EXECUTION, affiliate_ids: [await this.#due()] },
    }),
    approvePayoutRun: async () => ({ path: `/payout-runs/${(await this.#run()).id}/approve` }),
    cancelPayoutRun: async () => ({
      path: `/payout-runs/${(await this.#run()).id}/cancel`,
      body: {},
    }),
    releasePayoutLine: async () => {
      const affiliateId = await this.#due();
      const details = { ...WIRE, holder: "Anna Other" };
      await this.#setMethod(affiliateId, details);
      // Another case may have switched the hold off.
      const settings = { body: { payment_change_hold_hours: 72 } };
      await this.api.call("PATCH", "/billing-settings", settings);
      const [line] = (await this.#run(affiliateId)).held;
      if (line === undefined) throw new Error("no line is held");
      return {
        path: `/payout-lines/${line.id}/release`,
        body: { reason: "called her" },
      };
    },
    setPayoutResults: async () => {
      const { id, lines } = await this.#run();
      await this.world.done(`/payout-runs/${id}/approve`);
      const paid = { reference: lines[0]?.reference, status: "paid", external_id: this.#next("b") };
      return { path: `/payout-runs/${id}/results`, body: { rows: [paid] } };
    },
    exportPayoutRun: async () => {
      const { id } = await this.#run();
      await this.world.done(`/payout-runs/${id}/approve`);
      return { path: `/payout-runs/${id}/export?format=csv` };
    },
    setOwnPaymentMethod: async () => ({
      path: "/me/payment-method",
      body: { payment_method: "wire", payment_details: WIRE },
      key: await this.#keyOf(await this.#partner()),
    }),
    setPaymentMethod: async () => ({
      path: `/affiliates/${await this.#partner()}/payment-method`,
      body: { payment_method: "wire", payment_details: WIRE },
    }),
    createConversionUpdate: async () => ({
      path: "/conversion-updates?name=june.csv",
      raw: await this.#file(),
    }),
    applyConversionUpdate: async () => {
      const { id } = await this.#updates.checked(await this.#file());
      return { path: `/conversion-updates/${id}/apply` };
    },
    undoConversionUpdate: async () => {
      const { id } = await this.#updates.applied(await this.#file());
      return { path: `/conversion-updates/${id}/undo` };
    },
    stopConversionUpdate: async () => {
      const { id } = await this.#updates.checked(await this.#file());
      return { path: `/conversion-updates/${id}/stop` };
    },
    createKey: async () => ({
      path: "/keys",
      body: await Promise.resolve({ name: this.#next("key"), role: "analyst" }),
    }),
    createOwnKey: async () => ({
      path: "/me/keys",
      body: { name: this.#next("key") },
      key: await this.#keyOf(await this.#partner()),
    }),
  };

  async send(
    { method }: Pick<Operation, "method">,
    { path, ...write }: Write,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return await this.api.call(method, path, {
      ...write,
      headers: { ...headers, ...(write.raw === undefined ? {} : { "content-type": "text/csv" }) },
    });
  }

  /** Once no file of conversions is in work. */
  async quiet(): Promise<void> {
    await until("files of conversions rest", async () => {
      const rows = await this.api.rows(
        "select from conversion_update where status in ('reading', 'checking', 'applying', 'undoing')",
      );
      return rows.length === 0;
    });
  }

  #next(word: string): string {
    this.#made += 1;
    return `${word}-${this.#made}`;
  }

  async #partner(fields: Json = {}): Promise<number> {
    const made = await this.api.post("/affiliates", { name: this.#next("Anna"), ...fields });
    return Number(record(made).id);
  }

  async #keyOf(affiliateId: number): Promise<string> {
    const { workspaceId } = this.world.tenant;
    return await insertKey(this.api.pool, {
      workspaceId,
      name: this.#next("partner"),
      role: "partner",
      affiliateId,
    });
  }

  async #adjustment(affiliateId?: number): Promise<Json> {
    return {
      affiliate_id: affiliateId ?? (await this.#partner()),
      currency: CURRENCY,
      amount: "25",
      kind: "bonus",
      reason: this.#next("reason"),
    };
  }

  async #adjusted(affiliateId?: number): Promise<string> {
    const answer = await adjust(this.api, await this.#adjustment(affiliateId));
    return String(record(answer).id);
  }

  /** A partner that is owed something. */
  async #owed(fields: Json = {}): Promise<number> {
    const id = await this.#partner(fields);
    await this.#adjusted(id);
    return id;
  }

  async #draft(): Promise<number> {
    const affiliateId = await this.#owed();
    const answer = await this.api.post("/statements/close", {
      affiliate_id: affiliateId,
      until: today(),
    });
    const Made = z.object({ statements: z.array(z.looseObject({ id: z.int() })).length(1) });
    return Made.parse(answer.body["data"]).statements[0]?.id ?? 0;
  }

  async #invoice(): Promise<number> {
    return await this.world.draft(await this.world.advertiser(), "30");
  }

  /** A partner with a statement that is due, and a way to be paid that was not changed lately. */
  async #due(): Promise<number> {
    const affiliateId = await this.#partner();
    await this.#setMethod(affiliateId, WIRE);
    await this.api.rows("update payment_method_change set at = at - interval '30 days'");
    await approvedStatement(this.api, { affiliateId, amount: "40" });
    return affiliateId;
  }

  async #setMethod(affiliateId: number, details: Json): Promise<void> {
    const body = { payment_method: "wire", payment_details: details };
    await this.api.call("PUT", `/affiliates/${affiliateId}/payment-method`, { body });
  }

  async #run(affiliateId?: number): Promise<z.infer<typeof Run>> {
    const ids = [affiliateId ?? (await this.#due())];
    return Run.parse(await this.world.done("/payout-runs", { ...EXECUTION, affiliate_ids: ids }));
  }

  /** A file that approves a conversion. */
  async #file(): Promise<string> {
    const order = this.#next("order");
    await this.#updates.insertConversions(this.#offer, order);
    return `offer,txid,status\nSHOES,${order}-1,approved\n`;
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
