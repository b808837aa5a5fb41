import {
  type ApprovalResult,
  approveStatement,
} from "../../../schemas/billing/approve-statement.ts";
import type { MadeStatement } from "../../../schemas/billing/close-account.ts";
import { closeStatements } from "../../../schemas/billing/close-statements.ts";
import type { CloseLimits } from "../../../schemas/billing/next-period.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { type Zone, zoneOf } from "../../../schemas/time/zone.ts";
import { insertRow } from "../../services/stores.ts";

type Earned = {
  readonly affiliateId: number;
  /** What the partner gets; negative where it is taken back. */
  readonly amount: string;
  readonly currency?: string;
  readonly conversionId?: string | undefined;
  readonly offerId?: number;
  readonly eventCode?: string;
};

const DAY_MS = 86_400_000;

/** A workspace with billing, whose conversions are posted by hand. */
export class StatementBooks {
  readonly #pool: Pool;
  readonly #label: string;
  readonly workspaceId: number;
  #posted = 0;

  /** `label` tells facts of two books of one workspace apart. */
  constructor({ pool }: { readonly pool: Pool }, workspaceId: number, label = "t") {
    this.#label = label;
    this.#pool = pool;
    this.workspaceId = workspaceId;
  }

  get zone(): Zone {
    const zone = zoneOf("UTC");
    if (zone === undefined) throw new Error("UTC is a zone");
    return zone;
  }

  async switchOn(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.#pool.query({
      text: `insert into billing_settings (workspace_id, enabled, starts_on, legal, auto_approve, language)
             values ($1, true, '2020-01-01', $2, $3, $4)
             on conflict (workspace_id) do update set enabled = true, starts_on = '2020-01-01'`,
      values: [
        this.workspaceId,
        JSON.stringify(settings["legal"] ?? { name: "Network Ltd" }),
        settings["auto_approve"] ?? false,
        settings["language"] ?? "en",
      ],
    });
  }

  async partner(columns: Readonly<Record<string, unknown>> = {}): Promise<number> {
    this.#posted += 1;
    return await insertRow(this.#pool, "affiliate", {
      workspace_id: this.workspaceId,
      code: `P${this.workspaceId}N${this.#posted}`,
      name: `Partner ${this.#posted}`,
      currency: "EUR",
      ...columns,
    });
  }

  async earn(...facts: readonly Earned[]): Promise<void> {
    const transactions = facts.map((fact) => {
      this.#posted += 1;
      const { affiliateId, currency = "EUR", conversionId, offerId, eventCode } = fact;
      const amount = amountOf(fact.amount);
      const entry = { currency, conversionId, offerId, eventCode, count: amount > 0n ? 1 : -1 };
      return {
        kind: "conversion" as const,
        sourceKind: "history",
        sourceId: `${this.#label}${this.#posted}`,
        entries: [
          { ...entry, account: "payout_cost" as const, ownerId: 0, amount },
          {
            ...entry,
            account: "partner_payable" as const,
            ownerId: affiliateId,
            amount: -amount,
          },
        ],
      };
    });
    await inTransaction(this.#pool, (tx) => postLedger(tx, this.workspaceId, transactions));
  }

  async adjust(
    affiliateId: number,
    amount: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<number> {
    const kind = amount.startsWith("-") ? "deduction" : "bonus";
    const adjustment = { currency: "EUR", kind, reason: "as agreed", ...more };
    const id = await insertRow(this.#pool, "adjustment", {
      workspace_id: this.workspaceId,
      affiliate_id: affiliateId,
      amount,
      ...adjustment,
    });
    const value = amountOf(amount);
    const entry = { currency: adjustment.currency };
    await inTransaction(this.#pool, (tx) =>
      postLedger(tx, this.workspaceId, [
        {
          kind: "adjustment",
          sourceKind: "adjustment",
          sourceId: String(id),
          entries: [
            { ...entry, account: "adjustment_cost", ownerId: 0, amount: value },
            { ...entry, account: "partner_payable", ownerId: affiliateId, amount: -value },
          ],
        },
      ]),
    );
    return id;
  }

  /** Takes everything that is posted in the database so many days back: tests cannot wait for the end of a month. */
  async takeBack(days: number): Promise<void> {
    await inTransaction(this.#pool, async (tx) => {
      for (const table of ["ledger_entry", "ledger_transaction"]) {
        await tx.query({ text: `alter table ${table} disable trigger is_final` });
        await tx.query({
          text: `update ${table} set posted_at = posted_at - $1 * interval '1 day'`,
          values: [days],
        });
        await tx.query({ text: `alter table ${table} enable trigger is_final` });
      }
      await tx.query({
        text: `update ledger_balance set last_posted_at = last_posted_at - $1 * interval '1 day'
               where last_posted_at > '-infinity'`,
        values: [days],
      });
    });
  }

  /** Closes what has ended within so many days from now. */
  async close(
    affiliateId?: number,
    limits: Partial<CloseLimits> & { readonly isDryRun?: boolean } = {},
  ): Promise<MadeStatement[]> {
    const { made } = await closeStatements(this.#pool, {
      books: { workspaceId: this.workspaceId, zone: this.zone, taxText: "" },
      affiliateId,
      endedMs: Date.now() + 62 * DAY_MS,
      accountsMax: 1_000,
      ...limits,
    });
    return made;
  }

  /** Closes what there is now, whether or not a period ends. */
  async closeNow(affiliateId: number): Promise<MadeStatement[]> {
    const nowMs = Date.now() + 1;
    while (Date.now() <= nowMs) await new Promise((done) => setTimeout(done, 1));
    return await this.close(affiliateId, { endedMs: nowMs, untilMs: nowMs });
  }

  async approve(id: number): Promise<ApprovalResult> {
    return await approveStatement(this.#pool, { workspaceId: this.workspaceId, id, by: {} });
  }

  /** Pays an approved statement, as a payout line would. */
  async pay({ row }: MadeStatement): Promise<void> {
    const amount = amountOf(row.gross);
    const { currency, affiliate_id: ownerId } = row;
    await inTransaction(this.#pool, async (tx) => {
      await postLedger(tx, this.workspaceId, [
        {
          kind: "payout",
          sourceKind: "payout_line",
          sourceId: `s${row.id}`,
          entries: [
            { account: "partner_payable", ownerId, currency, amount },
            { account: "clearing", ownerId: 0, currency, amount: -amount },
          ],
        },
      ]);
      await tx.query({
        text: "update statement set status = 'paid', paid_at = now() where id = $1",
        values: [row.id],
      });
    });
  }
}

/** The amounts of statements, in short. */
export function inShort(made: readonly MadeStatement[]): string[][] {
  return made.map(({ row }) => [
    row.status,
    row.carried_in,
    row.total,
    row.payable,
    row.carried_out,
  ]);
}
