import { z } from "zod";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { adminWrite } from "../access/access-of-operations.ts";
import { referenceFaults } from "../access/references.ts";
import { showTo } from "../access/visibility.ts";
import { conflict } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { mintCode } from "../rest/codes.ts";
import { presentFields } from "../rest/patch.ts";
import { CreateAffiliateBody, ShownAffiliate } from "./affiliate-fields.ts";
import { type AffiliateRow, type AffiliateValues, insertAffiliate } from "./affiliates.ts";

const CODE_TRIES_MAX = 5;

/** G57. */
const DEFAULTS = {
  status: "active",
  company: "",
  contact_name: "",
  email: "",
  phone: "",
  website: "",
  messenger: "",
  traffic_sources: "",
  notes: "",
  country: "",
  tier: "",
  manager_id: null,
  payment_method: "other",
  payment_details: {},
  payment_terms: "net30",
  min_payout: "0.0000",
  tags: [],
};

export const createAffiliate: Operation = operation({
  name: "createAffiliate",
  method: "POST",
  path: "/affiliates",
  tag: "Affiliates",
  summary: "Create an affiliate",
  access: adminWrite("affiliates.write"),
  input: { body: CreateAffiliateBody },
  bodyDefaults: DEFAULTS,
  output: z.object({ data: ShownAffiliate }),
  status: 201,
  failures: ["conflict"],
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { manager_id: "user" }),
  run: async ({ principal, db, workspace }, { body }) => {
    const affiliate = await insertWithCode(db, workspace.id, {
      ...withDefaults(body, workspace.currency),
      code: body.code,
    });
    return { body: { data: showTo(principal.role, "affiliate", affiliate) } };
  },
});

/** G57; the currency is the workspace's. */
export function withDefaults(
  body: CreateAffiliateBody,
  currency: string,
): Omit<AffiliateValues, "code"> {
  return { ...DEFAULTS, currency, ...presentFields(body), name: body.name };
}

async function insertWithCode(
  db: Pool,
  workspaceId: number,
  values: Omit<AffiliateValues, "code"> & { readonly code: string | undefined },
): Promise<AffiliateRow> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const code = values.code ?? mintCode();
      return await inTransaction(
        db,
        async (tx) => await insertAffiliate(tx, workspaceId, { ...values, code }),
      );
    } catch (error) {
      if (violatedConstraint(error) !== "affiliate_code") throw error;
      if (values.code !== undefined) throw conflict("code", "another affiliate has this code");
      if (attempt === CODE_TRIES_MAX) throw error;
    }
  }
}
