import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { deletedRecord } from "../../fields/body-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { getOfferOfPath, OfferPath } from "./get-offer.ts";
import { lockOffer } from "./offers.ts";

export const deleteOffer: Operation = operation({
  name: "deleteOffer",
  method: "DELETE",
  path: "/offers/{id}",
  tag: "Offers",
  summary: "Archive an offer",
  description:
    "Its code becomes free. Its conversions stay in lists and reports. Its links go to the fallback, and new reports about its clicks are refused. It cannot be " +
    "brought back; to stop an offer for a while, set its status to paused.",
  access: adminWrite("offers.write"),
  input: { path: OfferPath },
  output: z.object({ data: deletedRecord }),
  status: 200,
  findResource: getOfferOfPath,
  run: async ({ db }, { resource: { id } }) => {
    await inTransaction(db, async (tx) => {
      if ((await lockOffer(tx, id)) === undefined) throw notFound("offer");
      await archive(tx, id);
    });
    return { body: { data: { id, deleted: true } } };
  },
});

async function archive(tx: Queryable, id: number): Promise<void> {
  await tx.query({
    name: "archive-offer",
    text: "update offer set deleted_at = now(), updated_at = clock_timestamp() where id = $1",
    values: [id],
  });
}
