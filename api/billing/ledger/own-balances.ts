import { z } from "zod";
import { readBillingState } from "../../../schemas/billing/billing-state.ts";
import { type PaymentTerms, periodOf } from "../../../schemas/billing/periods.ts";
import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import { advertiserOnly } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownCurrency, shownMoney, shownTime } from "../../fields/body-fields.ts";
import { currencyParam, unpagedParams } from "../../http/query-fields.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { listAdvertiserBalances, listPartnerBalances, sumApproved } from "./balances.ts";

/** An account has no more currencies than there are. */
const ROWS_MAX = 200;
/** Without a ledger, what is approved is read conversion by conversion. */
const APPROVED_DAYS = 90;
const partnerOnly: OperationAccess = { roles: ["partner"], isWrite: false };

const ShownEarnings = shownSchema("earnings", {
  currency: shownCurrency,
  pending: shownMoney,
  approved: shownMoney,
  unbilled: shownMoney.nullable(),
  carried: shownMoney.nullable(),
  draft: shownMoney.nullable(),
  approved_unpaid: shownMoney.nullable(),
  in_payout: shownMoney.nullable(),
  paid_total: shownMoney.nullable(),
  next_period_end: shownTime.nullable(),
  approved_since: shownTime.nullable(),
}).meta({ id: "Earnings" });

const ShownOwnBilling = shownSchema("own_billing", {
  currency: shownCurrency,
  pending: shownMoney,
  balance: shownMoney,
  unbilled: shownMoney,
  carried: shownMoney,
  invoiced_open: shownMoney,
  unallocated: shownMoney,
  paid_total: shownMoney,
}).meta({ id: "OwnBilling" });

export const getEarnings: Operation = operation({
  name: "getEarnings",
  method: "GET",
  path: "/me/earnings",
  tag: "Billing",
  summary: "Get the own earnings",
  description:
    "What the partner of the key has earned and was paid, one object for each currency. While the network does not use billing, there are only `pending` " +
    `and \`approved\`, from conversions, and the other fields are null. \`approved\` is then of the conversions of the last ${APPROVED_DAYS} days: ` +
    "`approved_since` says since when, and reports have longer times.",
  access: partnerOnly,
  input: { query: z.object({ ...unpagedParams, currency: currencyParam }) },
  output: z.object({ data: z.array(ShownEarnings), next_cursor: z.null() }),
  status: 200,
  run: async (context, { query }) => {
    const state = await readBillingState(context.db, context.workspace.id);
    const rows = await earningsOf(context, query.currency, state?.enabled === true);
    const data = rows.map((row) => showTo(context.principal.role, "earnings", row));
    return { body: { data, next_cursor: null } };
  },
});

export const getOwnBilling: Operation = operation({
  name: "getOwnBilling",
  method: "GET",
  path: "/me/billing",
  tag: "Billing",
  summary: "Get the own balances",
  description: "What the advertiser of the key owes and has paid, one object for each currency.",
  access: advertiserOnly(),
  input: { query: z.object({ ...unpagedParams, currency: currencyParam }) },
  output: z.object({ data: z.array(ShownOwnBilling), next_cursor: z.null() }),
  status: 200,
  run: async ({ db, workspace, principal }, { query }) => {
    const rows = await listAdvertiserBalances(db, workspace.id, {
      ownerId: principal.advertiser?.id ?? 0,
      currency: query.currency,
      rowsMax: ROWS_MAX,
    });
    const data = rows.map((row) =>
      showTo(principal.role, "own_billing", {
        ...row,
        // A draft is the staff's: for the advertiser it is not billed.
        unbilled: sumOf(row.unbilled, row.draft),
      }),
    );
    return { body: { data, next_cursor: null } };
  },
});

async function earningsOf(
  { db, workspace, principal, nowMs }: OperationContext,
  currency: string | undefined,
  isOn: boolean,
): Promise<Record<string, unknown>[]> {
  const affiliateId = principal.affiliate?.id ?? 0;
  const asked = { ownerId: affiliateId, currency, rowsMax: ROWS_MAX };
  const rows = await listPartnerBalances(db, workspace.id, asked);
  if (isOn) {
    const nextPeriodEnd = await nextPeriodEndOf(db, { affiliateId, nowMs, ...workspace });
    return rows.map((row) => ({
      ...row,
      approved: row.balance,
      next_period_end: nextPeriodEnd,
      approved_since: null,
    }));
  }
  const sinceMs = nowMs - APPROVED_DAYS * DAY_MS;
  const approved = await sumApproved(db, workspace.id, { affiliateId, currency, sinceMs });
  const sums = new Map(approved.map((row) => [row.currency, row.approved]));
  const pending = new Map(rows.map((row) => [row.currency, row.pending]));
  return [...new Set([...sums.keys(), ...pending.keys()])].toSorted().map((code) => ({
    ...NOT_BILLED,
    currency: code,
    pending: pending.get(code) ?? "0.0000",
    approved: sums.get(code) ?? "0.0000",
    approved_since: new Date(sinceMs).toISOString(),
  }));
}

const NOT_BILLED = {
  unbilled: null,
  carried: null,
  draft: null,
  approved_unpaid: null,
  in_payout: null,
  paid_total: null,
  next_period_end: null,
};

/** When the present period of the partner ends; null for terms without periods. */
async function nextPeriodEndOf(
  db: Queryable,
  { affiliateId, nowMs, timezone }: { affiliateId: number; nowMs: number; timezone: string },
): Promise<string | null> {
  const { rows } = await db.query<{ payment_terms: PaymentTerms }>({
    name: "find-payment-terms",
    text: "select payment_terms from affiliate where id = $1",
    values: [affiliateId],
  });
  const terms = rows[0]?.payment_terms ?? "on_request";
  if (terms === "on_request") return null;
  return new Date(periodOf(terms, nowMs, timezone).toMs).toISOString();
}

function sumOf(a: string, b: string): string {
  return formatAmount(amountOf(a) + amountOf(b));
}
