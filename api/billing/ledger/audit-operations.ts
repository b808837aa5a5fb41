import { z } from "zod";
import { auditBilling } from "../../../schemas/billing/audit.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownCurrency, shownMoney, shownTime } from "../../fields/body-fields.ts";
import { type FilteredPage, openPage } from "../../http/page.ts";
import { pageParams } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";

const STATUSES = ["approved", "pending", "rejected"] as const;

const ShownAudit = shownSchema("billing_audit", {
  audited_at: shownTime,
  violations: z.array(
    z.strictObject({
      invariant: z.string(),
      subject: z.string(),
      expected: z.string(),
      found: z.string(),
    }),
  ),
}).meta({ id: "BillingAudit" });

const ShownUnposted = shownSchema("unposted_change", {
  id: z.int(),
  conversion_id: z.string(),
  at: shownTime,
  offer_id: z.int(),
  affiliate_id: z.int().nullable(),
  advertiser_id: z.int(),
  currency: shownCurrency,
  from_status: z.enum(STATUSES).nullable(),
  to_status: z.enum(STATUSES),
  from_payout: shownMoney.nullable(),
  to_payout: shownMoney,
  from_revenue: shownMoney.nullable(),
  to_revenue: shownMoney,
}).meta({ id: "UnpostedChange" });

export const auditOperations: readonly Operation[] = [
  operation({
    name: "getBillingAudit",
    method: "GET",
    path: "/billing/audit",
    tag: "Billing",
    summary: "Audit billing now",
    description:
      "Checks all invariants of the books of the workspace and answers what contradicts them, up to 100 faults of each. While there is one, nothing is approved. " +
      "The service does the same every night.",
    access: unrestrictedStaff,
    input: {},
    output: z.object({ data: ShownAudit }),
    status: 200,
    run: async ({ db, workspace, principal }) => {
      await auditBilling(db, workspace.id);
      const audit = await findAudit(db, workspace.id);
      return { body: { data: showTo(principal.role, "billing_audit", audit) } };
    },
  }),
  operation({
    name: "listUnposted",
    method: "GET",
    path: "/billing/unposted",
    tag: "Billing",
    summary: "List changes that are not posted",
    description:
      "Changes of conversions that were created before `starts_on` of the billing settings, newest first. They belong to the old books: settle them there, or " +
      "by adjustments.",
    access: unrestrictedStaff,
    input: { query: z.object(pageParams) },
    output: z.object({ data: z.array(ShownUnposted), next_cursor: z.string().nullable() }),
    status: 200,
    run: async (context, { query }) => {
      const page = openPage(context, "listUnposted", query);
      const rows = await listRows(context.db, context.workspace.id, page);
      return {
        body: page.close(rows, {
          positionOf: (row) => ({ at: row.at, id: String(row.id) }),
          show: (row) => showTo(context.principal.role, "unposted_change", row),
        }),
      };
    },
  }),
];

async function findAudit(db: Queryable, workspaceId: number): Promise<Record<string, unknown>> {
  const { rows } = await db.query<Record<string, unknown>>({
    name: "find-billing-audit",
    text: "select audited_at, violations from billing_audit where workspace_id = $1",
    values: [workspaceId],
  });
  return rows[0] ?? {};
}

type UnpostedRow = { readonly id: number; readonly at: string; readonly [column: string]: unknown };

async function listRows(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax }: FilteredPage,
): Promise<UnpostedRow[]> {
  const { rows } = await db.query<UnpostedRow>({
    name: "list-unposted",
    text: `select u.history_id as id, u.conversion_id, u.at, c.offer_id, c.affiliate_id, c.advertiser_id, c.currency, h.from_status,
             h.to_status, h.from_payout, h.to_payout, h.from_revenue, h.to_revenue
           from ledger_unposted u join conversion_history h on h.id = u.history_id join conversion c on c.id = u.conversion_id
           where u.workspace_id = $1 and (u.at, u.history_id) < ($2::timestamptz, $3::bigint)
           order by u.at desc, u.history_id desc limit $4`,
    values: [workspaceId, after?.at ?? "infinity", after?.id ?? "0", rowsMax],
  });
  return rows;
}
