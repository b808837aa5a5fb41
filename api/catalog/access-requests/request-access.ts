import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime, text } from "../../fields/body-fields.ts";
import { conflict, notFound } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { getOfferOfPath, OfferPath } from "../offers/get-offer.ts";
import { acceptTerms, SHA256, TERMS_HASH_EXAMPLE } from "../offers/offer-terms.ts";
import { queueAccessEvent } from "../offers/queue-access-event.ts";
import { lockForAccess, setAccess } from "../offers/set-partner-access.ts";
import { answerFaults, answers, shownQuestions } from "./access-questions.ts";
import { type AccessRequestRow, ShownAccessRequest } from "./access-request-fields.ts";
import { findRequest } from "./access-requests.ts";
import {
  changeRequest,
  insertRequest,
  mayAskAgainFrom,
  readAskingTerms,
  refusalOfRequest,
  withdrawRequest,
} from "./own-request.ts";

const MESSAGE_MAX = 2_000;

const path = "/offers/{id}/access-request";
const read: OperationAccess = { roles: ["partner"], permission: "offers.read", isWrite: false };
const write: OperationAccess = { ...read, isWrite: true };

const Body = z.strictObject({
  message: text(MESSAGE_MAX).optional(),
  answers: answers.optional(),
  accept_terms: z
    .string("expected text")
    .regex(SHA256, "expected the hash of the terms, 64 hexadecimal digits")
    .meta({ examples: [TERMS_HASH_EXAMPLE] })
    .optional(),
});

type OfferNames = { readonly id: number; readonly code: string; readonly name: string };

export const getAccessRequest: Operation = operation({
  name: "getAccessRequest",
  method: "GET",
  path,
  tag: "Offers",
  summary: "Get the partner's request for access",
  access: read,
  input: { path: OfferPath },
  output: z.object({
    data: shownSchema("access_form", {
      offer_id: z.int(),
      questions: shownQuestions,
      can_request: z.boolean(),
      can_request_from: shownTime.nullable(),
      request: ShownAccessRequest.nullable(),
    }).meta({ id: "AccessForm" }),
  }),
  status: 200,
  findResource: getOfferOfPath,
  run: async (context, { resource: { id } }) => {
    const asking = await readAskingTerms(context.db, id, partnerOf(context));
    const form = {
      offer_id: id,
      questions: asking.questions,
      can_request: refusalOfRequest(asking, context.nowMs) === undefined,
      can_request_from: mayAskAgainFrom(asking),
      request: asking.request === undefined ? null : shown(context, asking.request),
    };
    return { body: { data: showTo(context.principal.role, "access_form", form) } };
  },
});

export const requestAccess: Operation = operation({
  name: "requestAccess",
  method: "POST",
  path,
  tag: "Offers",
  summary: "Ask for access to an offer for the partner of the key",
  description:
    "A request that waits gets the new message and answers, with status 200. A rejected partner may ask again after the days that the " +
    "offer sets. Offers may approve some tiers of partners at once.",
  access: write,
  input: { path: OfferPath, body: Body },
  output: z.object({ data: ShownAccessRequest }),
  status: 201,
  otherStatus: 200,
  failures: ["conflict"],
  findResource: getOfferOfPath,
  findFaults: async (context, { body, resource: { id } }) => {
    const { questions } = await readAskingTerms(context.db, id, partnerOf(context));
    return answerFaults(questions, body["answers"] ?? {});
  },
  run: async (context, { body, resource: offer }) => {
    const { isNew, request } = await inTransaction(
      context.db,
      async (tx) => await ask(tx, context, { offer, body }),
    );
    return { body: { data: shown(context, request) }, status: isNew ? 201 : 200 };
  },
});

export const withdrawAccessRequest: Operation = operation({
  name: "withdrawAccessRequest",
  method: "DELETE",
  path,
  tag: "Offers",
  summary: "Take back a request for access that waits",
  access: write,
  input: { path: OfferPath },
  output: z.object({
    data: z.strictObject({ offer_id: z.int(), withdrawn: z.literal(true) }),
  }),
  status: 200,
  failures: ["conflict"],
  findResource: getOfferOfPath,
  run: async (context, { resource: { id } }) => {
    const affiliateId = partnerOf(context);
    await inTransaction(context.db, async (tx) => {
      await lockForAccess(tx, id);
      const request = await findRequest(tx, id, affiliateId);
      if (request === undefined) throw notFound("access request");
      if (request.status !== "pending")
        throw conflict("status", `the request is ${request.status} already`);
      await withdrawRequest(tx, id, affiliateId);
    });
    return { body: { data: { offer_id: id, withdrawn: true } } };
  },
});

async function ask(
  tx: Queryable,
  context: OperationContext,
  { offer, body }: { readonly offer: OfferNames; readonly body: z.output<typeof Body> },
): Promise<{ readonly isNew: boolean; readonly request: AccessRequestRow }> {
  const ids = { offerId: offer.id, affiliateId: partnerOf(context) };
  await lockForAccess(tx, ids.offerId);
  const asking = await readAskingTerms(tx, ids.offerId, ids.affiliateId);
  const refusal = refusalOfRequest(asking, context.nowMs);
  if (refusal !== undefined) throw conflict(refusal.field, refusal.message);
  const wanted = { ...ids, message: body.message ?? "", answers: body.answers ?? {} };
  const isNew = asking.request?.status !== "pending";
  await (isNew ? insertRequest(tx, wanted) : changeRequest(tx, wanted));
  if (body.accept_terms !== undefined)
    await acceptTerms(tx, { ...ids, hash: body.accept_terms, field: "accept_terms" });
  if (isNew) await queueAccessEvent(tx, context, { offer, access: await readOwn(tx, ids) });
  if (isNew && asking.auto_approve_tiers.includes(asking.tier)) {
    const access = await setAccess(tx, { ...ids, status: "approved", note: "" });
    await queueAccessEvent(tx, context, { offer, access });
  }
  return { isNew, request: await readOwn(tx, ids) };
}

async function readOwn(
  tx: Queryable,
  { offerId, affiliateId }: { readonly offerId: number; readonly affiliateId: number },
): Promise<AccessRequestRow> {
  const request = await findRequest(tx, offerId, affiliateId);
  if (request === undefined) throw new Error("a request was written but cannot be read");
  return request;
}

function shown({ principal }: OperationContext, row: AccessRequestRow): Record<string, unknown> {
  return showTo(principal.role, "access_request", row);
}

function partnerOf({ principal }: OperationContext): number {
  if (principal.affiliate === null) throw new Error("only partner keys reach this operation");
  return principal.affiliate.id;
}
