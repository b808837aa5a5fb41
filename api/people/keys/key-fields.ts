import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { oneOf, recordId, shownTime, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { addressRanges, time } from "../../fields/catalog-fields.ts";
import { PERMISSIONS, ROLES } from "../../operation/permissions.ts";

const NAME_MAX = 200;

export const CreateKeyBody = z.strictObject({
  name: text(NAME_MAX).optional(),
  role: oneOf(...ROLES),
  affiliate_id: recordId.nullable().optional(),
  advertiser_id: recordId.nullable().optional(),
  permissions: listOf(oneOf(...PERMISSIONS), {
    expected: "expected a list of permissions",
    max: PERMISSIONS.length,
    tooMany: `expected at most ${PERMISSIONS.length} permissions`,
  })
    .optional()
    .meta({
      description: "For a staff key: its only permissions. Default: all permissions of its role",
    }),
  ip_allowlist: addressRanges.optional(),
  expires_at: time.nullable().optional(),
});
export type CreateKeyBody = z.infer<typeof CreateKeyBody>;

/** What every key has, whoever reads it. */
const shownKey = {
  id: z.int(),
  name: z.string(),
  role: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  ip_allowlist: z.array(z.string()),
  expires_at: shownTime.nullable(),
  last_used_at: shownTime.nullable(),
  revoked_at: shownTime.nullable(),
  created_at: shownTime,
  key: z
    .string()
    .meta({ description: "The secret: only the answer that creates the key contains it" }),
};

export const ShownKey = shownSchema("key", {
  ...shownKey,
  affiliate_id: z.int().nullable(),
  advertiser_id: z.int().nullable(),
})
  .partial({ key: true })
  .meta({ id: "Key" });

/** A key as its own account sees it. */
export const ShownOwnKey = shownSchema("own_key", shownKey)
  .partial({ key: true })
  .meta({ id: "OwnKey" });
