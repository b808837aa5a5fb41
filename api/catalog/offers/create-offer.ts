import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { EVENT } from "../../fields/event.ts";
import { unsetValues } from "../../fields/field.ts";
import { OFFER } from "../../fields/offer.ts";
import { presentFields } from "../../http/patch.ts";
import { mintCode, tryCodes } from "../../operation/codes.ts";
import { conflict, validationFailed } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { eventTable } from "./events.ts";
import { eventFaults, findDefaultEvent, offerMacroFaults, percentFaults } from "./offer-faults.ts";
import {
  CreateOfferBody,
  type EventBody,
  type EventRow,
  type OfferRow,
  WARNS,
  WrittenOffer,
} from "./offer-fields.ts";
import { findAdvertiserCurrency, lockOffer, offerTable } from "./offers.ts";
import { queueOfferCreated } from "./queue-offer-event.ts";
import { writtenOffer } from "./show-offer.ts";

type OfferValues = Omit<OfferRow, "id" | "code" | "created_at" | "updated_at" | "events">;
type EventValues = Omit<EventRow, "id">;

/** Values of the fields that a body leaves out (G35). */
const DEFAULTS = unsetValues(OFFER);

export const createOffer: Operation = operation({
  name: "createOffer",
  method: "POST",
  path: "/offers",
  tag: "Offers",
  summary: "Create an offer",
  description: `Creates its default event too. ${WARNS}`,
  access: adminWrite("offers.write"),
  input: { body: CreateOfferBody },
  bodyDefaults: DEFAULTS,
  output: WrittenOffer,
  status: 201,
  failures: ["conflict"],
  findFaults: async (context, { body }) => ({
    ...(await referenceFaults(context, body, { advertiser_id: "advertiser" })),
    ...percentFaults(body, { ...DEFAULTS, ...findDefaultEvent(body["events"]) }),
    ...eventFaults(body["events"]),
    ...offerMacroFaults({ body }),
  }),
  run: async (context, { body }) => {
    const offer = await insertUnderNewCode(context, body);
    return { body: writtenOffer(context.principal, { offer, body }) };
  },
});

async function insertUnderNewCode(
  context: OperationContext,
  body: CreateOfferBody,
): Promise<OfferRow> {
  const { db, workspace } = context;
  const isTaken = (error: unknown): boolean => violatedConstraint(error) === "offer_code";
  const insert = async (): Promise<OfferRow> =>
    await inTransaction(db, async (tx) => {
      const code = body.code ?? mintCode();
      const offer = await insertOfferWithEvents(tx, workspace.id, { ...body, code });
      await queueOfferCreated(tx, context, offer);
      return offer;
    });
  if (body.code === undefined) return await tryCodes(insert, isTaken);
  try {
    return await insert();
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw conflict("code", "another offer has this code");
  }
}

/** Inserts an offer with its events. Must run in a transaction. @throws a unique violation of `offer_code`. */
export async function insertOfferWithEvents(
  tx: Queryable,
  workspaceId: number,
  body: CreateOfferBody & { readonly code: string },
): Promise<OfferRow> {
  const currency = await findAdvertiserCurrency(tx, workspaceId, body.advertiser_id);
  if (currency === undefined) throw validationFailed({ advertiser_id: "no such advertiser" });
  const fromDefault = body.events?.find(({ code }) => code === "default");
  const values = withDefaults(body, fromDefault, currency);
  const { id } = await offerTable.insert(tx, workspaceId, { ...values, code: body.code });
  await eventTable.insert(tx, id, defaultEvent(values, fromDefault));
  for (const event of body.events ?? []) {
    if (event !== fromDefault) await eventTable.insert(tx, id, withEventDefaults(event));
  }
  const offer = await lockOffer(tx, id);
  if (offer === undefined) throw new Error("an offer was inserted but cannot be read");
  return offer;
}

/** A posted default event gives the amounts and types that the offer leaves out (G42). */
function withDefaults(
  { code: _code, events: _events, ...body }: CreateOfferBody,
  fromDefault: EventBody | undefined,
  currency: string,
): OfferValues {
  const { name, advertiser_id, destination_url } = body;
  const money = {
    revenue_type: fromDefault?.revenue_type,
    revenue: fromDefault?.revenue,
    payout_type: fromDefault?.payout_type,
    payout: fromDefault?.payout,
  };
  return {
    ...DEFAULTS,
    currency,
    ...presentFields(money),
    ...presentFields(body),
    name,
    advertiser_id,
    destination_url,
  };
}

/** The default event mirrors the offer (G43). */
function defaultEvent(values: OfferValues, posted: EventBody | undefined): EventValues {
  return {
    ...withEventDefaults({ name: "Default", ...presentFields(posted ?? {}), code: "default" }),
    revenue_type: values.revenue_type,
    revenue: values.revenue,
    payout_type: values.payout_type,
    payout: values.payout,
    is_default: true,
  };
}

/** Defaults of a further event (OFF-039, OFF-041). Without a name it is named after its code. */
export function withEventDefaults(event: EventBody): EventValues {
  return {
    ...unsetValues(EVENT),
    name: event.code,
    ...presentFields(event),
    code: event.code,
    is_default: false,
  };
}
