import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { findByReference } from "../../access/find-by-reference.ts";
import { AFFILIATE, AFFILIATE_STATUSES } from "../../fields/affiliate.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { givenCode } from "../../fields/catalog-fields.ts";
import { hasMember, isAnyOf, matches } from "../../http/filter-conditions.ts";
import { byCode, byName } from "../../http/list-order.ts";
import { idParam, idsParam, textParam, wordParam } from "../../http/query-fields.ts";
import { mintCode, type Reference } from "../../operation/codes.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";
import type { Body } from "../../records/managed-resource.ts";
import { queueEvent, type Shown } from "../../records/queue-event.ts";
import { changesPayment, notePaymentChange } from "./payment-change.ts";
import { paymentTextsField } from "./sealed-details.ts";

/** Fields of a partner in webhooks. */
export const AFFILIATE_DOCUMENT = [
  "id",
  "code",
  "name",
  "status",
  "email",
  "company",
  "country",
  "created_at",
] as const;

/** Partners. G57 has the defaults; a new partner's currency is the workspace's. */
export const affiliates = manage({
  resource: "affiliate",
  names: { one: "Affiliate", many: "Affiliates" },
  path: "/affiliates",
  tag: "Affiliates",
  descriptions: { list: "Affiliates are the partners who send visitors. Newest first." },
  hasCode: "affiliate",
  table: "affiliate",
  fields: AFFILIATE,
  // The contract fixes the codes that a request may give. Files come from earlier systems, whose links are to keep working.
  imported: { code: givenCode },
  generated: ({ workspace }) => ({ code: mintCode(), currency: workspace.currency }),
  readOnly: {
    id: z.int(),
    approved_at: shownTime.nullable(),
    created_at: shownTime,
    updated_at: shownTime,
  },
  sealed: paymentTextsField,
  // When the partner first becomes active (T39). Postgres reads "now" as the time of the transaction.
  derived: {
    columns: ["approved_at"],
    from: ({ approved_at: before, status }) => ({
      approved_at: before ?? (status === "active" ? "now" : null),
    }),
  },
  filters: {
    status: wordParam(...AFFILIATE_STATUSES),
    manager_id: idParam,
    tag: textParam,
    ids: idsParam.meta({ description: "Comma-separated ids" }),
    q: textParam.meta({ description: "Part of the name, company or e-mail, or the exact code" }),
  },
  conditions: {
    tag: hasMember("tags"),
    ids: isAnyOf("id"),
    q: matches(["name", "company", "email"], ["code"]),
  },
  sorts: { name: byName("name"), code: byCode("code") },
  read: staff("affiliates.read"),
  write: { ...adminWrite("affiliates.write"), needsFresh: ["payment_details"] },
  references: { manager_id: "user" },
  taken: { affiliate_code: { field: "code", message: "another affiliate has this code" } },
  afterUpdate: async (tx, context, change) => {
    await queueAffiliateUpdated(tx, context, change);
    if (changesPayment(change)) await notePaymentChange(tx, context, change);
  },
});

/** Queues `affiliate.updated`. The rows need the fields of the document. */
export async function queueAffiliateUpdated(
  tx: Queryable,
  context: OperationContext,
  { before, after }: { readonly before: Body; readonly after: Body },
): Promise<void> {
  await queueEvent(tx, context, "affiliate.updated", () => ({
    data: affiliateDocument(after),
    before: affiliateDocument(before),
  }));
}

/** Queues `affiliate.signup`: a partner has signed up and waits for a decision (G129). */
export async function queueAffiliateSignUp(
  tx: Queryable,
  context: Pick<OperationContext, "workspace" | "requestId" | "trace">,
  row: Body,
): Promise<void> {
  await queueEvent(tx, context, "affiliate.signup", () => ({ data: affiliateDocument(row) }));
}

/** The partner as webhooks show it: without notes and payment details (G128). */
function affiliateDocument(row: Body): Shown {
  return Object.fromEntries(AFFILIATE_DOCUMENT.map((key) => [key, row[key]]));
}

export type AffiliateRow = { readonly id: number; readonly code: string; readonly status: string };

/** By id, else by code (G25), else by alias (N112). */
export async function findAffiliate(
  db: Queryable,
  workspaceId: number,
  reference: Reference,
): Promise<AffiliateRow | undefined> {
  return await findByReference(db, workspaceId, {
    kind: "affiliate",
    reference,
    find: async (asked) => await findAffiliateByCode(db, workspaceId, asked),
  });
}

async function findAffiliateByCode(
  db: Queryable,
  workspaceId: number,
  reference: Reference,
): Promise<AffiliateRow | undefined> {
  const { rows } = await db.query<AffiliateRow>({
    name: "find-affiliate",
    text: `select id, code, status from affiliate where workspace_id = $1 and (id = $2 or lower(code) = lower($3))
           order by id = $2 desc limit 1`,
    values: [workspaceId, reference.id, reference.code],
  });
  return rows[0];
}
