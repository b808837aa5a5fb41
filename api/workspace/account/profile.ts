import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { AFFILIATE_DOCUMENT, queueAffiliateUpdated } from "../../catalog/affiliates/affiliates.ts";
import { country, orEmpty, shownTime, text } from "../../fields/body-fields.ts";
import { presentFields } from "../../http/patch.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { type ManagedRow, ManagedTable } from "../../records/managed-table.ts";

const read: OperationAccess = { roles: ["partner", "advertiser"], isWrite: false };

/** What the account may change of itself. Name, status, tier and terms are the staff's, and the e-mail proves who it is. */
const ofBoth = {
  company: text(),
  contact_name: text(),
  phone: text(),
  website: text(),
  country: orEmpty(country),
};
const ofPartners = { messenger: text(), traffic_sources: text() };

const tables = {
  partner: new ManagedTable({
    table: "affiliate",
    written: [...Object.keys(ofBoth), ...Object.keys(ofPartners)],
    readOnly: [...AFFILIATE_DOCUMENT, "updated_at"],
  }),
  advertiser: new ManagedTable({
    table: "advertiser",
    written: Object.keys(ofBoth),
    readOnly: ["id", "name", "email", "created_at", "updated_at"],
  }),
};

const output = z.object({
  data: shownSchema("profile", {
    name: z.string(),
    email: z.string(),
    company: z.string(),
    contact_name: z.string(),
    phone: z.string(),
    website: z.string(),
    messenger: z.string(),
    traffic_sources: z.string(),
    country: z.string(),
    updated_at: shownTime,
  }).meta({ id: "Profile" }),
});

export const getProfile: Operation = operation({
  name: "getProfile",
  method: "GET",
  path: "/me/profile",
  tag: "Account",
  summary: "Get the profile of the account",
  description: "The contact details of the partner or advertiser of the key.",
  access: read,
  input: {},
  output,
  status: 200,
  run: async (context) => {
    const { table, id } = accountOf(context.principal);
    return answer(context, await table.find(context.db, context.workspace.id, id));
  },
});

export const updateProfile: Operation = operation({
  name: "updateProfile",
  method: "PATCH",
  path: "/me/profile",
  tag: "Account",
  summary: "Change the profile of the account",
  description: "The contact details of the partner or advertiser of the key.",
  access: { ...read, isWrite: true },
  input: { body: z.strictObject({ ...ofBoth, ...ofPartners }).partial() },
  output,
  status: 200,
  findFaults: async ({ principal }, { body }) =>
    await Promise.resolve(principal.role === "partner" ? {} : faultsOfAdvertiser(body)),
  run: async (context, { body }) => {
    const { db, workspace, principal } = context;
    const { table, id } = accountOf(principal);
    const row = await inTransaction(db, async (tx) => {
      const before = await table.lock(tx, workspace.id, id);
      const values = { ...before, ...presentFields(body) };
      if (before === undefined || isDeepStrictEqual(values, before)) return before;
      const after = await table.update(tx, workspace.id, { id, values });
      if (after !== undefined && principal.role === "partner")
        await queueAffiliateUpdated(tx, context, { before, after });
      return after;
    });
    return answer(context, row);
  },
});

/** Only partners have these fields. */
function faultsOfAdvertiser(body: Readonly<Record<string, unknown>>): FieldFaults {
  const sent = Object.keys(ofPartners).filter((field) => body[field] !== undefined);
  return Object.fromEntries(sent.map((field) => [field, "unknown field"]));
}

function accountOf({ affiliate, advertiser }: Principal): {
  readonly table: ManagedTable;
  readonly id: number;
} {
  if (affiliate !== null) return { table: tables.partner, id: affiliate.id };
  if (advertiser !== null) return { table: tables.advertiser, id: advertiser.id };
  throw new Error("only keys of an account reach this operation");
}

function answer({ principal }: OperationContext, row: ManagedRow | undefined) {
  if (row === undefined) throw notFound("account");
  return { body: { data: showTo(principal.role, "profile", row) } };
}
