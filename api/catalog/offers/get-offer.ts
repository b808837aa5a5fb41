import { z } from "zod";
import { everyRole } from "../../access/access-of-operations.ts";
import { reference } from "../../http/path-fields.ts";
import type { Reference } from "../../operation/codes.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import type { OfferRow } from "./offer-fields.ts";
import { ShownOffer } from "./offer-fields.ts";
import { findOffer } from "./offers.ts";
import { showOffer } from "./show-offer.ts";

/** `{id}` of an offer in a path (ENV-016). */
export const OfferPath = z.object({ id: reference });

/** The offer that a path names, as the key may see it. @throws {ApiError} `not_found`. */
export async function getOfferOfPath(
  { db, principal }: OperationContext,
  { id }: { readonly id: Reference },
): Promise<OfferRow> {
  const offer = await findOffer(db, principal, id);
  if (offer === undefined) throw notFound("offer");
  return offer;
}

export const getOffer: Operation = operation({
  name: "getOffer",
  method: "GET",
  path: "/offers/{id}",
  tag: "Offers",
  summary: "Get an offer",
  description: "By id or code.",
  access: everyRole("offers.read"),
  input: { path: OfferPath },
  output: z.object({ data: ShownOffer }),
  status: 200,
  findResource: getOfferOfPath,
  run: async ({ principal }, { resource }) => ({
    body: { data: showOffer(principal, resource) },
  }),
});
