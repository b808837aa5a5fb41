import { z } from "zod";
import { adminWrite } from "../access/access-of-operations.ts";
import { referenceFaults } from "../access/references.ts";
import { showTo } from "../access/visibility.ts";
import { type Operation, operation } from "../operation.ts";
import { presentFields } from "../rest/patch.ts";
import { CreateAdvertiserBody, ShownAdvertiser } from "./advertiser-fields.ts";
import { type AdvertiserValues, insertAdvertiser } from "./advertisers.ts";

const DEFAULTS = {
  status: "active",
  company: "",
  contact_name: "",
  email: "",
  phone: "",
  website: "",
  country: "",
  notes: "",
  account_manager_id: null,
  billing_terms: "net30",
  tags: [],
};

export const createAdvertiser: Operation = operation({
  name: "createAdvertiser",
  method: "POST",
  path: "/advertisers",
  tag: "Advertisers",
  summary: "Create an advertiser; the answer holds its postback token",
  access: adminWrite("advertisers.write"),
  input: { body: CreateAdvertiserBody },
  bodyDefaults: DEFAULTS,
  output: z.object({ data: ShownAdvertiser }),
  status: 201,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { account_manager_id: "user" }),
  run: async ({ principal, db, workspace }, { body }) => {
    const advertiser = await insertAdvertiser(
      db,
      workspace.id,
      withDefaults(body, workspace.currency),
    );
    return { body: { data: showTo(principal.role, "advertiser", advertiser) } };
  },
});

/** ADV-004; the currency is the workspace's. */
export function withDefaults(
  body: z.infer<typeof CreateAdvertiserBody>,
  currency: string,
): AdvertiserValues {
  return { ...DEFAULTS, currency, ...presentFields(body), name: body.name };
}
