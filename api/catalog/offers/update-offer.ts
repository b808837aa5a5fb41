import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { presentFields } from "../../http/patch.ts";
import { notFound, validationFailed } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { setTermsOfDefaultEvent } from "./events.ts";
import { getOfferOfPath, OfferPath } from "./get-offer.ts";
import { offerMacroFaults, payPerClickFaults, percentFaults } from "./offer-faults.ts";
import { type OfferRow, PatchOfferBody, WARNS, WrittenOffer } from "./offer-fields.ts";
import { lockOffer, offerTable } from "./offers.ts";
import { queueOfferUpdated } from "./queue-offer-event.ts";
import { writtenOffer } from "./show-offer.ts";

export const updateOffer: Operation = operation({
  name: "updateOffer",
  method: "PATCH",
  path: "/offers/{id}",
  tag: "Offers",
  summary: "Update an offer",
  description: `Changes the fields in the body. Its terms also apply to the default event. ${WARNS}`,
  access: adminWrite("offers.write"),
  input: { path: OfferPath, body: PatchOfferBody },
  output: WrittenOffer,
  status: 200,
  findResource: getOfferOfPath,
  findFaults: async (context, { body, resource }) => ({
    ...(await referenceFaults(context, body, { advertiser_id: "advertiser" })),
    ...percentFaults(body, resource),
    ...offerMacroFaults({ body, before: resource }),
    ...(await payPerClickFaults(context.db, resource, body)),
  }),
  run: async (context, { body, resource }) => {
    const { principal, db } = context;
    const offer = await inTransaction(db, async (tx) => {
      const { before, after } = await change(tx, context, { id: resource.id, body });
      if (before !== after) await queueOfferUpdated(tx, context, { before, after });
      return after;
    });
    return { body: writtenOffer(principal, { offer, body }) };
  },
});

/**
 * Changes everything or nothing (OFF-038). If the body changes nothing, `updated_at` stays and the same row is returned as before
 * and after (G13, G28).
 */
async function change(
  tx: Queryable,
  { workspace }: OperationContext,
  { id, body }: { readonly id: number; readonly body: PatchOfferBody },
): Promise<{ readonly before: OfferRow; readonly after: OfferRow }> {
  const current = await lockOffer(tx, id);
  if (current === undefined) throw notFound("offer");
  const next = { ...current, ...presentFields(body) };
  if (isDeepStrictEqual(next, current)) return { before: current, after: current };
  // Checked again under the lock, because another request may have changed the terms in the meantime.
  const faults = {
    ...percentFaults(body, current),
    ...(await payPerClickFaults(tx, current, body)),
  };
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  await offerTable.update(tx, workspace.id, { id, values: next });
  if (hasTerms(body)) await setTermsOfDefaultEvent(tx, id, next);
  return { before: current, after: (await lockOffer(tx, id)) ?? current };
}

function hasTerms({ revenue_type, revenue, payout_type, payout }: PatchOfferBody): boolean {
  return [revenue_type, revenue, payout_type, payout].some((value) => value !== undefined);
}
