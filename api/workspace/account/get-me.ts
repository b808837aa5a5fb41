import { z } from "zod";
import { everyRole } from "../../access/access-of-operations.ts";
import { ADVERTISER_STATUSES } from "../../fields/advertiser.ts";
import { AFFILIATE_STATUSES } from "../../fields/affiliate.ts";
import { shownCurrency } from "../../fields/body-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { PERMISSIONS, ROLES } from "../../operation/permissions.ts";
import { keyIdOf } from "../../operation/principal.ts";

const Output = z.strictObject({
  data: z
    .strictObject({
      key: z.strictObject({ id: z.int(), name: z.string(), role: z.enum(ROLES) }),
      workspace: z.strictObject({
        id: z.int(),
        slug: z.string(),
        name: z.string(),
        timezone: z.string(),
        currency: shownCurrency,
      }),
      affiliate: z
        .strictObject({
          id: z.int(),
          code: z.string(),
          name: z.string(),
          status: z.enum(AFFILIATE_STATUSES),
          currency: shownCurrency,
        })
        .nullable(),
      advertiser: z
        .strictObject({
          id: z.int(),
          name: z.string(),
          status: z.enum(ADVERTISER_STATUSES),
          currency: shownCurrency,
        })
        .nullable(),
      permissions: z.array(z.enum(PERMISSIONS)),
      rate_limit: z.strictObject({ limit: z.int(), remaining: z.int(), reset_sec: z.int() }),
    })
    .meta({ id: "Me" }),
});

export const getMe: Operation = operation({
  name: "getMe",
  method: "GET",
  path: "/me",
  tag: "Account",
  summary: "Get the key in use",
  description: "The key, its workspace and account, its permissions and its budget.",
  access: everyRole(),
  input: {},
  output: Output,
  status: 200,
  run: async ({ principal, workspace, rate }) => {
    const { actor, role } = principal;
    const { id, slug, name, timezone, currency } = workspace;
    const data = {
      // 0: a session is no key.
      key: { id: keyIdOf(actor) ?? 0, name: actor.name, role },
      workspace: { id, slug, name, timezone, currency },
      affiliate: principal.affiliate,
      advertiser: principal.advertiser,
      permissions: principal.permissions,
      rate_limit: { limit: rate.limit, remaining: rate.remaining, reset_sec: rate.resetSec },
    };
    return await Promise.resolve({ body: { data } });
  },
});
