import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { advertiserOnly } from "../../access/access-of-operations.ts";
import { readOwnTokens, replaceOwnToken } from "../../catalog/advertisers/own-tokens.ts";
import { findDefaultOrigin } from "../../catalog/links/link-domains.ts";
import { count, shownTime } from "../../fields/body-fields.ts";
import { ApiError } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";

const GRACE_HOURS = 24;
const GRACE_HOURS_MAX = 72;

const Output = z.object({
  data: z
    .strictObject({
      postback_token: z.string(),
      may_rotate: z.boolean(),
      old_tokens: z.array(z.strictObject({ ends_with: z.string(), good_until: shownTime })),
      tracking_url: z
        .string()
        .nullable()
        .meta({
          description:
            "Origin to which conversions are reported: the workspace's default tracking domain; null without an active one",
          examples: ["https://track.example"],
        }),
    })
    .meta({ id: "OwnPostbackToken" }),
});

export const getOwnPostbackToken: Operation = operation({
  name: "getOwnPostbackToken",
  method: "GET",
  path: "/me/postback-token",
  tag: "Account",
  summary: "Get the advertiser's postback token",
  description: "With replaced ones that are still good, and where reports are sent.",
  access: advertiserOnly(),
  input: {},
  output: Output,
  status: 200,
  run: async (context) => ({
    body: { data: await shownTokens(context, context.db) },
  }),
});

export const rotateOwnPostbackToken: Operation = operation({
  name: "rotateOwnPostbackToken",
  method: "POST",
  path: "/me/postback-token/rotate",
  tag: "Account",
  summary: "Replace the advertiser's own postback token",
  description:
    "The new token is good within a second. The old one stays good for `grace_hours`, so that servers can be changed one after the other; " +
    "with 0 it ends within a second, and so do all tokens that were replaced before. The workspace may forbid it (`may_rotate`).",
  access: { ...advertiserOnly(), isWrite: true, needsFresh: true },
  input: {
    body: z.strictObject({
      grace_hours: count({ min: 0, max: GRACE_HOURS_MAX }).optional(),
    }),
  },
  bodyDefaults: { grace_hours: GRACE_HOURS },
  output: Output,
  status: 200,
  failures: ["conflict"],
  run: async (context, { body }) => {
    const advertiserId = advertiserIdOf(context);
    const data = await inTransaction(context.db, async (tx) => {
      const { may_rotate: mayRotate } = await readOwnTokens(tx, advertiserId);
      if (!mayRotate) {
        throw new ApiError(
          "forbidden",
          "this workspace does not let advertisers rotate their tokens: ask its team",
        );
      }
      await replaceOwnToken(tx, advertiserId, body.grace_hours ?? GRACE_HOURS);
      return await shownTokens(context, tx);
    });
    return { body: { data } };
  },
});

async function shownTokens(context: OperationContext, db: Queryable) {
  return {
    ...(await readOwnTokens(db, advertiserIdOf(context))),
    tracking_url: (await findDefaultOrigin(db, context.workspace.id)) ?? null,
  };
}

/** The advertiser of the key. Only advertiser keys reach these operations. */
export function advertiserIdOf({ principal }: OperationContext): number {
  if (principal.advertiser === null) throw new Error("the key has no advertiser");
  return principal.advertiser.id;
}
