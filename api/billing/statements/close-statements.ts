import { z } from "zod";
import { type BillingState, readBillingState } from "../../../schemas/billing/billing-state.ts";
import type { Books, MadeStatement } from "../../../schemas/billing/close-account.ts";
import {
  type Closed,
  closeStatements as closeAll,
} from "../../../schemas/billing/close-statements.ts";
import { formatDay, parseDay } from "../../../schemas/time/calendar.ts";
import { type Zone, zoneOf } from "../../../schemas/time/zone.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { findAffiliate } from "../../catalog/affiliates/affiliates.ts";
import { flag, recordId } from "../../fields/body-fields.ts";
import { ApiError, conflict } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
  type RequestContext,
} from "../../operation/operation.ts";
import { ShownStatementPage, showStatement } from "./statement-fields.ts";

/** Accounts that one call closes. */
const ACCOUNTS_MAX = 1_000;

const untilDay = z
  .string("expected a date")
  .refine((text) => parseDay(text) !== undefined, "expected a date such as 2025-01-31")
  .meta({ format: "date", examples: ["2025-01-31"] });

const output = z.object({
  data: z.strictObject({
    statements: z.array(ShownStatementPage),
    has_more: z.boolean().meta({
      description: `More than ${ACCOUNTS_MAX} accounts are due: call again for the others`,
    }),
    is_dry_run: z.boolean(),
  }),
});

export const closeStatements: Operation = operation({
  name: "closeStatements",
  method: "POST",
  path: "/statements/close",
  tag: "Billing",
  summary: "Close periods",
  description:
    "Makes the statements of all periods that have ended, of one partner or of all. With `until`, one partner's running period ends with that day. With `dry_run`, answers what would be made and keeps nothing.",
  access: unrestrictedAdminWrite,
  input: {
    body: z.strictObject({
      affiliate_id: recordId.nullable().default(null),
      until: untilDay.nullable().default(null),
      dry_run: flag.default(false),
    }),
  },
  output,
  status: 201,
  keepsAnswer: true,
  failures: ["conflict"],
  findFaults: closeFaults,
  run: async (context, { body }) => {
    const { affiliate_id: affiliateId, until, dry_run: isDryRun } = body;
    const books = await openBooks(context);
    const untilMs = untilOf(context, books.zone, until);
    const closed = await closeAll(context.db, {
      books,
      affiliateId: affiliateId ?? undefined,
      endedMs: untilMs ?? context.nowMs,
      untilMs,
      requestedMs: affiliateId === null ? undefined : context.nowMs,
      isDryRun,
      accountsMax: ACCOUNTS_MAX,
    });
    return { body: { data: shownClosing(context, closed, isDryRun) } };
  },
});

export const closeOwnStatement: Operation = operation({
  name: "closeOwnStatement",
  method: "POST",
  path: "/me/statements/close",
  tag: "Billing",
  summary: "Ask for a statement",
  description:
    "For partners that are paid on request: makes a statement of all that was earned until now, once the minimum is reached.",
  access: { roles: ["partner"], isWrite: true },
  input: { body: z.strictObject({}) },
  output,
  status: 201,
  keepsAnswer: true,
  failures: ["conflict"],
  run: async (context) => {
    const { db, principal, nowMs } = context;
    const books = await openBooks(context);
    const asked = {
      books,
      affiliateId: principal.affiliate?.id,
      endedMs: nowMs,
      requestedMs: nowMs,
      accountsMax: ACCOUNTS_MAX,
    };
    const { made } = await closeAll(db, { ...asked, isDryRun: true });
    const isPaid = ({ row }: MadeStatement): boolean =>
      row.status === "draft" && row.terms === "on_request";
    if (!made.some(isPaid))
      throw new ApiError("conflict", "Nothing can be paid on request at the moment.");
    const closed = await closeAll(db, asked);
    // Partners see a statement once it is approved.
    const shared = { ...closed, made: [] };
    return { body: { data: shownClosing(context, shared, false) } };
  },
});

/** The books of a workspace with billing switched on. @throws {ApiError} `conflict`. */
async function openBooks({ db, workspace }: OperationContext): Promise<Books> {
  const state: BillingState | undefined = await readBillingState(db, workspace.id);
  const zone = zoneOf(workspace.timezone);
  if (state?.enabled !== true || zone === undefined)
    throw conflict("enabled", "Billing is not switched on.");
  return { workspaceId: workspace.id, zone, taxText: state.default_tax_text };
}

/** The end of a day of the workspace; now for today. */
function untilOf({ nowMs }: OperationContext, zone: Zone, day: string | null): number | undefined {
  const parsed = day === null ? undefined : parseDay(day);
  return parsed === undefined ? undefined : Math.min(nowMs, zone.startOfDayMs(parsed + 1));
}

async function closeFaults(
  { db, workspace, nowMs }: RequestContext,
  { body }: { readonly body: Readonly<Record<string, unknown>> },
): Promise<FieldFaults> {
  const affiliateId = recordId.safeParse(body["affiliate_id"]);
  const until = untilDay.safeParse(body["until"]);
  const zone = zoneOf(workspace?.timezone ?? "UTC");
  const faults: Record<string, string> = {};
  if (until.success && !affiliateId.success) faults["affiliate_id"] = "required with until";
  if (until.success && zone !== undefined && until.data > formatDay(zone.dayAt(nowMs)))
    faults["until"] = "is in the future";
  if (affiliateId.success && workspace !== undefined) {
    const found = await findAffiliate(db, workspace.id, { id: affiliateId.data, code: "" });
    if (found === undefined) faults["affiliate_id"] = "no such affiliate";
  }
  return faults;
}

function shownClosing(
  { principal }: OperationContext,
  { made, hasMore }: Closed,
  isDryRun: boolean,
): Record<string, unknown> {
  const statements = made.map(({ row, lines }) => showStatement(principal.role, row, lines));
  return { statements, has_more: hasMore, is_dry_run: isDryRun };
}
