import { z } from "zod";
import { REPLY_MAX } from "../../../schemas/catalog/access-reply.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { longText, oneOf, recordId, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { ACCESS_STATUSES } from "../offers/offer-fields.ts";
import { queueAccessEvent } from "../offers/queue-access-event.ts";
import { type AccessRequestRow, ShownAccessRequest } from "./access-request-fields.ts";
import { decideRequests, lockOffersOf, type RequestKey, readRequests } from "./access-requests.ts";

const ITEMS_MAX = 200;

const key = { offer_id: recordId, affiliate_id: recordId };
const Body = z.strictObject({
  items: listOf(z.strictObject(key, "expected an offer_id and an affiliate_id"), {
    expected: "expected a list",
    max: ITEMS_MAX,
    tooMany: `expected at most ${ITEMS_MAX} requests`,
  }).min(1, "expected at least one request"),
  status: oneOf("approved", "rejected"),
  note: longText().optional(),
  reply: text(REPLY_MAX).optional(),
});
type Body = z.output<typeof Body>;

const shownKey = { offer_id: z.int(), affiliate_id: z.int() };

type Decided = {
  readonly updated: readonly AccessRequestRow[];
  readonly skipped: readonly AccessRequestRow[];
  readonly notFound: readonly RequestKey[];
};

export const decideAccessRequests: Operation = operation({
  name: "decideAccessRequests",
  method: "PATCH",
  path: "/access-requests",
  tag: "Offers",
  summary: "Approve or reject up to 200 pending access requests",
  description:
    "Only pending requests are decided, each of them once: one that somebody else has decided in the meantime is in `skipped` with its " +
    "status. PUT /offers/{id}/affiliates/{affiliate} changes a decision. " +
    "The partner reads `reply`, and never `note`.",
  access: { ...adminWrite("offers.write"), orPermission: "affiliates.write" },
  input: { body: Body },
  output: z.object({
    data: z.strictObject({
      updated: z.array(ShownAccessRequest),
      skipped: z.array(z.strictObject({ ...shownKey, status: z.enum(ACCESS_STATUSES) })),
      not_found: z.array(z.strictObject(shownKey)),
    }),
  }),
  status: 200,
  run: async (context, { body }) => {
    const { updated, skipped, notFound } = await decide(context, body);
    return {
      body: {
        data: {
          updated: updated.map((row) => showTo(context.principal.role, "access_request", row)),
          skipped: skipped.map(({ offer_id, affiliate_id, status }) => ({
            offer_id,
            affiliate_id,
            status,
          })),
          not_found: notFound,
        },
      },
    };
  },
});

/** A request that is named twice counts once. */
async function decide(context: OperationContext, body: Body): Promise<Decided> {
  const asked = [...new Map(body.items.map((item) => [nameOf(item), item])).values()];
  return await inTransaction(context.db, async (tx) => {
    await lockOffersOf(tx, context.workspace.id, asked);
    const found = await readRequests(tx, context.workspace.id, asked);
    const pending = found.filter(({ status }) => status === "pending");
    const names = new Set(found.map(nameOf));
    await decideRequests(tx, pending, {
      status: body.status,
      note: body.note ?? "",
      reply: body.reply ?? "",
    });
    const updated = await readRequests(tx, context.workspace.id, pending);
    for (const access of updated) {
      const { offer_id: id, offer_code: code, offer_name: name } = access;
      await queueAccessEvent(tx, context, { offer: { id, code, name }, access });
    }
    return {
      updated,
      skipped: found.filter(({ status }) => status !== "pending"),
      notFound: asked.filter((item) => !names.has(nameOf(item))),
    };
  });
}

function nameOf({ offer_id, affiliate_id }: RequestKey): string {
  return `${offer_id}.${affiliate_id}`;
}
