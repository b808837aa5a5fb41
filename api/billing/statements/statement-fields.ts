import { z } from "zod";
import {
  STATEMENT_FORMATS,
  type StatementLine,
  type StatementRow,
  shownStatement,
} from "../../../schemas/billing/statements.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownCurrency, shownDay, shownMoney, shownTime } from "../../fields/body-fields.ts";
import type { Role } from "../../operation/permissions.ts";

export const STATEMENT_STATUSES = [
  "draft",
  "approved",
  "in_payout",
  "paid",
  "carried",
  "void",
] as const;
/** What partners see. */
export const SHARED_STATUSES = ["approved", "in_payout", "paid"] as const;
export const LINE_KINDS = [
  "conversions",
  "clicks",
  "bonus",
  "deduction",
  "correction",
  "bounty",
  "opening",
  "write_off",
  "clawback",
  "reversal",
] as const;

const ShownLine = shownSchema("statement_line", {
  line: z.int(),
  kind: z.enum(LINE_KINDS),
  offer_id: z.int().nullable(),
  offer_name: z.string(),
  event_code: z.string().nullable(),
  of_statement_id: z.int().nullable(),
  of_statement_number: z.string().nullable(),
  count: z.int(),
  amount: shownMoney,
}).meta({ id: "StatementLine" });

const shape = {
  id: z.int(),
  number: z.string().nullable(),
  affiliate_id: z.int(),
  affiliate_name: z.string(),
  currency: shownCurrency,
  period: z.strictObject({ from: shownTime, to: shownTime, tz: z.string() }),
  status: z.enum(STATEMENT_STATUSES),
  terms: z.string(),
  carried_in: shownMoney,
  total: shownMoney,
  min_payout: shownMoney.nullable(),
  payable: shownMoney,
  tax: z.strictObject({
    mode: z.string(),
    rate: z.string(),
    amount: shownMoney,
    text: z.string(),
  }),
  gross: shownMoney,
  carried_out: shownMoney,
  due_on: shownDay,
  payout_line_id: z.int().nullable(),
  files: z
    .strictObject(Object.fromEntries(STATEMENT_FORMATS.map((format) => [format, z.string()])))
    .nullable(),
  created_at: shownTime,
  approved_at: shownTime.nullable(),
  paid_at: shownTime.nullable(),
  voided_at: shownTime.nullable(),
};

export const ShownStatement = shownSchema("statement", shape).meta({ id: "Statement" });
export const ShownStatementPage = shownSchema("statement", {
  ...shape,
  lines: z.array(ShownLine),
}).meta({ id: "StatementWithLines" });

/** Where a role finds statements. */
function pathOf(role: Role): "/me/statements" | "/statements" {
  return role === "partner" ? "/me/statements" : "/statements";
}

export function showStatement(
  role: Role,
  row: StatementRow,
  lines?: readonly StatementLine[],
): Record<string, unknown> {
  const shownLines = lines?.map((line) => showTo(role, "statement_line", line));
  return showTo(role, "statement", { ...shownStatement(row, pathOf(role)), lines: shownLines });
}
