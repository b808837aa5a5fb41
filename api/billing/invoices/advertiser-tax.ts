import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { noteChange } from "../../access/change-log.ts";
import { findReferenced } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { country, oneOf, orEmpty, text } from "../../fields/body-fields.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { ShownTax } from "./invoice-fields.ts";

const RATE_MAX = 100;
const VAT_ID_MAX = 40;
const path = z.object({ id: pathId });
const one = z.object({ data: ShownTax });

const rate = z
  .string('expected a percentage such as "19"')
  .regex(/^\d{1,3}(\.\d{1,4})?$/, "expected a percentage with at most 4 decimals")
  .refine((value) => Number(value) <= RATE_MAX, `expected at most ${RATE_MAX}`)
  .meta({ format: "decimal", examples: ["19"] });

type TaxRow = Readonly<Record<string, unknown>>;

export const getAdvertiserTax: Operation = operation({
  name: "getAdvertiserTax",
  method: "GET",
  path: "/advertisers/{id}/tax",
  tag: "Billing",
  summary: "Get how an advertiser is taxed",
  access: unrestrictedStaff,
  input: { path },
  output: one,
  status: 200,
  findResource: ofPath,
  run: async ({ db, principal }, { resource }) => ({
    body: { data: showTo(principal.role, "tax_record", await readTax(db, resource)) },
  }),
});

export const setAdvertiserTax: Operation = operation({
  name: "setAdvertiserTax",
  method: "PUT",
  path: "/advertisers/{id}/tax",
  tag: "Billing",
  summary: "Set how an advertiser is taxed",
  description:
    "Holds for invoices that are closed from now on. `domestic` adds the rate; `reverse_charge` needs a VAT id and, like `exempt` and `none`, adds nothing.",
  access: unrestrictedAdminWrite,
  input: {
    path,
    body: z.strictObject({
      mode: oneOf("none", "domestic", "reverse_charge", "exempt"),
      rate: rate.optional(),
      country: orEmpty(country).optional(),
      vat_id: text(VAT_ID_MAX).optional(),
    }),
  },
  bodyDefaults: { rate: "0", country: "", vat_id: "" },
  output: one,
  status: 200,
  findResource: ofPath,
  findFaults: async (_context, { body }) => await Promise.resolve(faultsOf(body)),
  run: async (context, { resource, body }) => {
    const { db, principal } = context;
    await inTransaction(db, async (tx) => {
      const before = await readTax(tx, resource);
      await saveTax(tx, context.workspace.id, { advertiserId: resource, body });
      const after = await readTax(tx, resource);
      await noteChange(tx, context, {
        resource: "advertiser-tax",
        resourceId: resource,
        before: loggedTax(before),
        after: loggedTax(after),
      });
    });
    return { body: { data: showTo(principal.role, "tax_record", await readTax(db, resource)) } };
  },
});

type GivenTax = {
  readonly mode: string;
  readonly rate?: string | undefined;
  readonly country?: string | undefined;
  readonly vat_id?: string | undefined;
};

/** Without what names the advertiser, and the time. */
function loggedTax({ advertiser_id: _id, updated_at: _at, ...tax }: TaxRow): TaxRow {
  return tax;
}

async function saveTax(
  tx: Queryable,
  workspaceId: number,
  { advertiserId, body }: { readonly advertiserId: number; readonly body: GivenTax },
): Promise<void> {
  await tx.query({
    name: "set-advertiser-tax",
    text: `insert into tax_record (workspace_id, advertiser_id, mode, rate, country, vat_id) values ($1, $2, $3, $4, $5, $6)
             on conflict (advertiser_id) do update set mode = excluded.mode, rate = excluded.rate, country = excluded.country,
               vat_id = excluded.vat_id, updated_at = clock_timestamp()`,
    values: [
      workspaceId,
      advertiserId,
      body.mode,
      body.rate ?? "0",
      body.country ?? "",
      body.vat_id ?? "",
    ],
  });
}

async function ofPath(
  { db, workspace }: Pick<OperationContext, "db" | "workspace">,
  { id }: { readonly id: number },
): Promise<number> {
  const known = await findReferenced(db, workspace.id, { kind: "advertiser", ids: [id] });
  if (!known.has(id)) throw notFound("advertiser");
  return id;
}

async function readTax(db: Queryable, advertiserId: number): Promise<TaxRow> {
  const { rows } = await db.query<TaxRow>({
    name: "read-advertiser-tax",
    text: "select advertiser_id, country, vat_id, mode, rate, updated_at from tax_record where advertiser_id = $1",
    values: [advertiserId],
  });
  const nothing = { country: "", vat_id: "", mode: "none", rate: "0.0000", updated_at: null };
  return rows[0] ?? { advertiser_id: advertiserId, ...nothing };
}

function faultsOf({ mode, rate: given, vat_id }: Readonly<Record<string, unknown>>): FieldFaults {
  const percent = rate.safeParse(given ?? "0");
  if (!percent.success) return {};
  if (mode === "domestic" && Number(percent.data) === 0)
    return { rate: "expected the rate of domestic tax" };
  if (mode !== "domestic" && Number(percent.data) > 0)
    return { rate: "only domestic tax has a rate" };
  if (mode === "reverse_charge" && (typeof vat_id !== "string" || vat_id.trim() === ""))
    return { vat_id: "reverse charge needs the VAT id of the advertiser" };
  return {};
}
