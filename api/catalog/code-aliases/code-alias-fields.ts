import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { oneOf, shownTime } from "../../fields/body-fields.ts";
import { givenCode, recordReference } from "../../fields/catalog-fields.ts";

export const ALIAS_KINDS = ["offer", "affiliate", "smart_link"] as const;
export type AliasKind = (typeof ALIAS_KINDS)[number];

const alias = givenCode.meta({ examples: ["old-shop.1"] });
const target = recordReference.meta({
  description: "Id or code of the record that the alias names",
  examples: ["SUMMER"],
});

export const CreateAliasBody = z.strictObject({
  kind: oneOf(...ALIAS_KINDS),
  alias,
  target,
});

export const PatchAliasBody = z.strictObject({ alias, target }).partial();

/** An alias as it is answered. */
export type AliasRow = {
  readonly id: number;
  readonly kind: AliasKind;
  readonly alias: string;
  readonly target: string;
  readonly target_id: number;
  readonly shadowed: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

export const ShownAlias = shownSchema("code_alias", {
  id: z.int(),
  kind: z.enum(ALIAS_KINDS),
  alias: z.string(),
  target: z.string(),
  target_id: z.int(),
  shadowed: z.boolean(),
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "CodeAlias" });
