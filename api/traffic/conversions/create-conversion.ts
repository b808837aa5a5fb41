import { z } from "zod";
import { isNoValue } from "../../../schemas/names/no-value.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { findAffiliate } from "../../catalog/affiliates/affiliates.ts";
import { findOffer } from "../../catalog/offers/offers.ts";
import { parseReference } from "../../operation/codes.ts";
import { validationFailed } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { actorOf, sendConversionCommand } from "./conversion-command.ts";
import { CreateConversionBody, DIGIT_FIELDS, ShownConversion } from "./conversion-fields.ts";
import { findConversion } from "./conversions.ts";
import { showConversion } from "./show-conversion.ts";

const DAY_MS = 86_400_000;
const AGE_DAYS_MAX = 400;

export const createConversion: Operation = operation({
  name: "createConversion",
  method: "POST",
  path: "/conversions",
  tag: "Conversions",
  summary: "Create a conversion",
  description:
    "Records a conversion by hand, by the same rules as a postback. A name in place of a value, such as `{order_id}` or `undefined`, counts as no value in `adv_txid`, `params`, `sub1` to `sub5` and `source_id`. These fields also take JSON numbers and keep all their digits.",
  access: adminWrite("conversions.write"),
  input: { body: CreateConversionBody },
  digitFields: DIGIT_FIELDS,
  output: z.object({ data: ShownConversion }),
  status: 201,
  failures: ["conflict"],
  findFaults: async (context, { body }) => ({
    ...(await referenceFaults(context, body)),
    ...timeFaults(context, body["conv_ts"]),
  }),
  run: async (context, { body }) => {
    const { principal, db } = context;
    const offer = await findOffer(db, principal, body.offer_id);
    const affiliate = await findAffiliate(db, principal.workspace.id, body.affiliate_id);
    if (offer === undefined) throw validationFailed({ offer_id: "no such offer" });
    if (affiliate === undefined) throw validationFailed({ affiliate_id: "no such affiliate" });
    const answer = await sendConversionCommand(context, {
      kind: "create",
      workspaceId: principal.workspace.id,
      ...actorOf(principal),
      nowMs: context.nowMs,
      offerId: offer.id,
      affiliateId: affiliate.id,
      ...commandFields(body),
    });
    const created =
      answer.kind === "created" ? await findConversion(db, principal, answer.id) : undefined;
    if (created === undefined) throw new Error("a conversion was recorded but cannot be read");
    return { body: { data: showConversion(principal.role, created) } };
  },
});

/** Unknown references, and events that the offer does not have (CNV-020, CNV-021). */
async function referenceFaults(
  { db, principal, workspace }: OperationContext,
  body: Readonly<Record<string, unknown>>,
): Promise<FieldFaults> {
  const faults: Record<string, string> = {};
  const offerReference = referenceOf(body["offer_id"]);
  const offer = offerReference && (await findOffer(db, principal, offerReference));
  if (offerReference !== undefined && offer === undefined) faults["offer_id"] = "no such offer";
  const affiliateReference = referenceOf(body["affiliate_id"]);
  if (
    affiliateReference !== undefined &&
    (await findAffiliate(db, workspace.id, affiliateReference)) === undefined
  ) {
    faults["affiliate_id"] = "no such affiliate";
  }
  const { event } = body;
  if (
    typeof event === "string" &&
    offer !== undefined &&
    !offer.events.some(({ code }) => code === event)
  ) {
    faults["event"] = "the offer has no such event";
  }
  return faults;
}

function referenceOf(value: unknown): ReturnType<typeof parseReference> {
  return typeof value === "string" || typeof value === "number"
    ? parseReference(String(value))
    : undefined;
}

/** Conversion time: not in the future, at most 400 days ago (G89). */
function timeFaults({ nowMs }: OperationContext, convTs: unknown): FieldFaults {
  const atMs = typeof convTs === "string" ? Date.parse(convTs) : Number.NaN;
  if (atMs > nowMs) return { conv_ts: "is in the future" };
  if (atMs < nowMs - AGE_DAYS_MAX * DAY_MS)
    return { conv_ts: `is more than ${AGE_DAYS_MAX} days ago` };
  return {};
}

function commandFields(body: CreateConversionBody) {
  const subs = {
    sub1: body.sub1,
    sub2: body.sub2,
    sub3: body.sub3,
    sub4: body.sub4,
    sub5: body.sub5,
    source_id: body.source_id,
  };
  return {
    clickId: body.click_id ?? null,
    eventCode: body.event ?? "default",
    saleAmount: body.sale_amount ?? null,
    payout: body.payout ?? null,
    revenue: body.revenue ?? null,
    currency: body.currency ?? null,
    status: body.status ?? null,
    convTsMs: body.conv_ts === undefined ? null : Date.parse(body.conv_ts),
    advTxid: givenText(body.adv_txid),
    notes: body.notes ?? "",
    params: textsOf(body.params ?? {}),
    click: textsOf(subs),
  };
}

function givenText(value: string | undefined): string | null {
  return value === undefined || isNoValue(value) ? null : value;
}

/** The values that are given. A name in place of a value, such as `{sub1}`, is no value (G216). */
function textsOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const text = givenText(value);
      return text === null ? [] : [[name, text]];
    }),
  );
}
