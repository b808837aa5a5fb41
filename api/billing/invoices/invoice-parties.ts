import type { BillingState } from "../../../schemas/billing/billing-state.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { PrincipalWorkspace } from "../../operation/principal.ts";
import type { Parties } from "./invoice-document.ts";

const LANGUAGE = "en";

type Recipient = {
  readonly name: string;
  readonly company: string;
  readonly country: string;
  readonly vat_id: string;
};

/** Both sides of an invoice as they are now. They are kept with it, so that the document never changes. */
export async function readParties(
  tx: Queryable,
  workspace: PrincipalWorkspace,
  { advertiserId, state }: { advertiserId: number; state: BillingState | undefined },
): Promise<Parties> {
  const { rows } = await tx.query<Recipient>({
    name: "read-invoice-recipient",
    text: `select a.name, a.company, coalesce(nullif(t.country, ''), a.country) as country, coalesce(t.vat_id, '') as vat_id
           from advertiser a left join tax_record t on t.advertiser_id = a.id where a.id = $1`,
    values: [advertiserId],
  });
  const [{ name, company, country, vat_id }] = [rows[0] ?? NOBODY];
  const legal = (field: string): string => state?.legal[field] ?? "";
  return {
    issuer: {
      name: legal("name") || workspace.name,
      address: legal("address"),
      country: legal("country"),
      vat_id: legal("vat_id"),
      iban: legal("iban"),
      bic: legal("bic"),
    },
    recipient: { name: company || name, address: "", country, vat_id, iban: "", bic: "" },
    language: state?.language ?? LANGUAGE,
  };
}

const NOBODY: Recipient = { name: "", company: "", country: "", vat_id: "" };
