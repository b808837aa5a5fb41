import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Question } from "./access-questions.ts";
import type { AccessRequestRow } from "./access-request-fields.ts";
import { findRequest } from "./access-requests.ts";

const DAY_MS = 86_400_000;

/** How an offer lets partners ask for access, and the state of one partner. */
export type AskingTerms = {
  readonly visibility: string;
  readonly terms: string | null;
  readonly questions: readonly Question[];
  readonly auto_approve_tiers: readonly string[];
  readonly reapply_days: number;
  readonly tier: string;
  readonly request: AccessRequestRow | undefined;
};

type TermsRow = Omit<AskingTerms, "request">;

export async function readAskingTerms(
  db: Queryable,
  offerId: number,
  affiliateId: number,
): Promise<AskingTerms> {
  const { rows } = await db.query<TermsRow>({
    name: "read-asking-terms",
    text: `select o.visibility, o.terms, o.access_questions as questions, o.auto_approve_tiers, o.reapply_days, f.tier
           from offer o join affiliate f on f.id = $2 where o.id = $1`,
    values: [offerId, affiliateId],
  });
  const row = rows[0];
  if (row === undefined) throw new Error("the offer found before is gone");
  return { ...row, request: await findRequest(db, offerId, affiliateId) };
}

export type Refusal = { readonly field: string; readonly message: string };

/** Why the partner cannot ask for access now (N31). Undefined if it can, or can change its pending request. */
export function refusalOfRequest(asking: AskingTerms, nowMs: number): Refusal | undefined {
  const { request, visibility, terms } = asking;
  if (request?.status === "approved")
    return { field: "status", message: "you have access to this offer already" };
  if (request?.status === "rejected") {
    // A pending record lets a partner run a public offer, so a new request would undo the rejection.
    if (visibility === "public")
      return { field: "status", message: "your team has refused you this offer: ask your manager" };
    const from = mayAskAgainFrom(asking);
    if (from !== null && Date.parse(from) > nowMs)
      return {
        field: "status",
        message: `your request was rejected: you may ask again from ${from}`,
      };
  }
  if (visibility === "public" && terms === null && request === undefined)
    return {
      field: "status",
      message: "every partner may run this offer: there is nothing to ask",
    };
  return undefined;
}

/** When a rejected partner may ask again; null if the partner never may, or is not rejected. */
export function mayAskAgainFrom({
  request,
  visibility,
  reapply_days: days,
}: AskingTerms): string | null {
  if (request?.status !== "rejected" || visibility === "public") return null;
  const decidedMs = Date.parse(request.decided_at ?? request.requested_at ?? "");
  return Number.isNaN(decidedMs) ? null : new Date(decidedMs + days * DAY_MS).toISOString();
}

export type NewRequest = {
  readonly offerId: number;
  readonly affiliateId: number;
  readonly message: string;
  readonly answers: Readonly<Record<string, unknown>>;
};

/** A new request, also after a rejection. The caller has locked the offer. */
export async function insertRequest(tx: Queryable, request: NewRequest): Promise<void> {
  await tx.query({
    name: "insert-access-request",
    text: `insert into offer_access as a (offer_id, affiliate_id, status, requested_at, message, answers)
           values ($1, $2, 'pending', now(), $3, $4::jsonb)
           on conflict (offer_id, affiliate_id) do update
           set status = 'pending', note = '', reply = '', requested_at = now(), decided_at = null, message = excluded.message,
             answers = excluded.answers`,
    values: [
      request.offerId,
      request.affiliateId,
      request.message,
      JSON.stringify(request.answers),
    ],
  });
}

/** Replaces what the partner wrote in a pending request. */
export async function changeRequest(tx: Queryable, request: NewRequest): Promise<void> {
  await tx.query({
    name: "change-access-request",
    text: `update offer_access set message = $3, answers = $4::jsonb
           where offer_id = $1 and affiliate_id = $2 and status = 'pending'`,
    values: [
      request.offerId,
      request.affiliateId,
      request.message,
      JSON.stringify(request.answers),
    ],
  });
}

/** Takes a pending request back. What the partner has accepted of the terms stays. */
export async function withdrawRequest(
  tx: Queryable,
  offerId: number,
  affiliateId: number,
): Promise<void> {
  await tx.query({
    name: "withdraw-access-request",
    text: `update offer_access set requested_at = null, message = '', answers = '{}', note = '', reply = ''
           where offer_id = $1 and affiliate_id = $2 and status = 'pending'`,
    values: [offerId, affiliateId],
  });
}
