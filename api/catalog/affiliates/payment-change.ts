import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { noteChange } from "../../access/change-log.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { queueMail } from "../../records/mail-outbox.ts";
import type { Body } from "../../records/managed-resource.ts";
import { queueEvent } from "../../records/queue-event.ts";
import { maskedTexts } from "./payment-mask.ts";

/** Whether a change of a partner's record changes how it is paid. */
export function changesPayment({
  before,
  after,
}: {
  readonly before: Body;
  readonly after: Body;
}): boolean {
  return (
    before["payment_method"] !== after["payment_method"] ||
    !isDeepStrictEqual(before["payment_details"], after["payment_details"])
  );
}

/**
 * Notes who changed how a partner is paid, from where and when, and queues webhooks and mails to the partner: payouts wait after it (N32). What was
 * entered and sealed before no longer counts.
 */
export async function notePaymentChange(
  tx: Queryable,
  context: OperationContext,
  { before, after }: Change,
): Promise<void> {
  const { principal, workspace, clientIp } = context;
  const { actor } = principal;
  await tx.query({
    name: "forget-payment-account",
    text: "delete from payment_account where affiliate_id = $1::integer",
    values: [after["id"]],
  });
  const { rows } = await tx.query<{ at: string; before: string | null }>({
    name: "note-payment-change",
    text: `insert into payment_method_change (workspace_id, affiliate_id, key_id, person_id, address)
           values ($1, $2::integer, $3, $4, nullif($5, '')::inet)
           returning at, (select max(c.at) from payment_method_change c where c.affiliate_id = $2::integer) as before`,
    values: [
      workspace.id,
      after["id"],
      actor.kind === "key" ? actor.id : null,
      actor.kind === "person" ? actor.id : null,
      clientIp,
    ],
  });
  const [noted] = rows;
  const shown = (row: Body, changedAt: string | null | undefined) => ({
    payment_method: row["payment_method"],
    payment_details: maskedTexts(row["payment_details"]),
    changed_at: changedAt ?? null,
  });
  await noteChange(tx, context, {
    resource: "payment-method",
    resourceId: Number(after["id"]),
    before: shown(before, noted?.before),
    after: shown(after, noted?.at),
  });
  await tellPaymentChange(tx, context, { before, after, what: "payment method", at: noted?.at });
}

type Change = { readonly before: Body; readonly after: Body };

/** Queues webhooks, and mails to the addresses that the partner had before the change. */
export async function tellPaymentChange(
  tx: Queryable,
  context: OperationContext,
  {
    before,
    after,
    what,
    at = new Date(context.nowMs).toISOString(),
  }: Change & {
    readonly what: "payment method" | "tax details";
    /** When it was noted. Default: when the request came in. */
    readonly at?: string | undefined;
  },
): Promise<void> {
  const { principal } = context;
  await queueEvent(tx, context, "affiliate.payment_method_changed", () => ({
    data: {
      affiliate_id: after["id"],
      affiliate_code: after["code"],
      affiliate_name: after["name"],
      payment_method: after["payment_method"],
      changed_by: principal.role === "partner" ? "partner" : "staff",
      changed_at: at,
    },
  }));
  await mailPartner(tx, context, before, what);
}

const MAILS_MAX = 10;

/** To the address of the record, and to the people who sign in for the partner: the thief of a key may have changed the address. */
async function mailPartner(
  tx: Queryable,
  { workspace, principal, clientIp, nowMs, sendsMail, log }: OperationContext,
  { id, email }: Body,
  what: string,
): Promise<void> {
  if (sendsMail !== true) return;
  const { rows } = await tx.query<{ email: string }>({
    name: "find-emails-of-partner",
    text: `select p.email from membership m join person p on p.id = m.person_id
           where m.workspace_id = $1 and m.affiliate_id = $2::integer order by m.id limit $3`,
    values: [workspace.id, id, MAILS_MAX],
  });
  // Where the staff sit is not for partners.
  const who =
    principal.role === "partner"
      ? `somebody of your account, from the address ${clientIp}`
      : "the network";
  for (const to of new Set([email, ...rows.map((row) => row.email)]))
    if (typeof to === "string" && to !== "")
      await queueMail(tx, log, {
        to,
        subject: `Your ${what} ${what === "tax details" ? "have" : "has"} changed`,
        text: `The ${what} of your account at ${oneLine(workspace.name)} has been changed by ${who}, at ${new Date(nowMs).toISOString()}.\n\nIf this was not you, tell the network at once: after a change of the payment method, payouts wait some days.\n`,
      });
}

const WORDS_MAX = 200;

/** A name in a mail cannot begin lines of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, WORDS_MAX);
}
