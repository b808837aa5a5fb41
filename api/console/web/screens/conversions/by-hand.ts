import { type Api, read } from "../../client/api-client.ts";
import { missingProblem, Problem } from "../../client/problem.ts";
import type { Conversion } from "./conversion.ts";

/** Where a conversion comes from, with names. */
export type Source = {
  readonly clickId: string;
  readonly offer: {
    readonly id: number;
    readonly name: string;
    readonly currency: string;
    readonly events: readonly { readonly code: string; readonly name: string }[];
  };
  readonly partner: { readonly id: number; readonly name: string };
};

/** What was sold. Texts as they were typed; empty for what is not known. */
export type Sale = {
  readonly event: string;
  readonly adv_txid: string;
  readonly sale_amount: string;
  readonly currency: string;
  readonly notes: string;
};

type Asked = {
  readonly clickId: string;
  readonly offerId: number;
  readonly partnerId: number;
};

/** Offer and partner of a click, or those that were chosen. 0 stands for none. @throws {Problem} */
export async function findSource(api: Api, asked: Asked): Promise<Source> {
  const click = asked.clickId === "" ? {} : await clickOf(api, asked.clickId);
  const offerId = asked.offerId || numberIn(click, "offer_id");
  const partnerId = asked.partnerId || numberIn(click, "affiliate_id");
  const missing = {
    ...(offerId === 0 ? { offer_id: "Choose the offer, or enter a click ID" } : {}),
    ...(partnerId === 0 ? { affiliate_id: "Choose the partner, or enter a click ID" } : {}),
  };
  if (Object.keys(missing).length > 0) throw missingProblem(missing);
  const byId = (id: number) => ({ params: { path: { id: String(id) } } });
  const [offer, partner] = await Promise.all([
    read(api.GET("/offers/{id}", byId(offerId))),
    read(api.GET("/affiliates/{id}", byId(partnerId))),
  ]);
  return { clickId: asked.clickId, offer: offer.data, partner: partner.data };
}

async function clickOf(api: Api, id: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const params = { path: { click_id: id } };
    return (await read(api.GET("/clicks/{click_id}", { params }))).data.click;
  } catch (error) {
    if (error instanceof Problem && [400, 404].includes(error.status))
      throw missingProblem({ click_id: "There is no click with this ID" });
    throw error;
  }
}

function numberIn(click: Readonly<Record<string, unknown>>, name: string): number {
  const value = click[name];
  return typeof value === "number" ? value : 0;
}

/** What the service would make of it. */
export type Judged = {
  readonly status: string;
  readonly reason: string;
  readonly payout: string;
  readonly revenue: string;
  /** The currency of payout and revenue. */
  readonly currency: string;
  readonly isDuplicate: boolean;
  /** The order was recorded before: a postback would change that conversion. */
  readonly isUpdate: boolean;
  /** Why it would be refused; empty if it would not. */
  readonly error: string;
};

/** A postback ignores what it cannot read; a person gets an error at the field. */
export function saleFaults({
  sale_amount: amount,
  currency,
}: Pick<Sale, "sale_amount" | "currency">): Readonly<Record<string, string>> {
  return {
    ...(amount === "" || /^\d{1,12}(\.\d{1,4})?$/.test(amount)
      ? {}
      : { sale_amount: "Enter an amount such as 12.50" }),
    ...(currency === "" || /^[A-Z]{3}$/.test(currency)
      ? {}
      : { currency: "Enter a currency such as EUR" }),
  };
}

/** Asks what would happen. Nothing is recorded. @throws {Problem} */
export async function judge(api: Api, source: Source, sale: Sale): Promise<Judged> {
  const faults = saleFaults(sale);
  if (Object.keys(faults).length > 0) throw missingProblem(faults);
  const given = {
    click_id: source.clickId,
    offer_id: String(source.offer.id),
    aff_id: String(source.partner.id),
    event: sale.event,
    txid: sale.adv_txid,
    amount: sale.sale_amount,
    currency: sale.currency,
  };
  const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  const { data } = await read(api.POST("/conversions/validate", { body: { params } }));
  return judgedOf(data.answer);
}

export function judgedOf(answer: Readonly<Record<string, unknown>>): Judged {
  const details = objectIn(answer["details"]);
  return {
    status: textIn(answer["status"]),
    reason: textIn(answer["reason"]).replaceAll("_", " "),
    payout: textIn(details["payout"]),
    revenue: textIn(details["revenue"]),
    currency: textIn(details["currency"]),
    isDuplicate: answer["duplicate"] === true,
    isUpdate: answer["updated"] === true,
    error: answer["ok"] === true ? "" : textIn(answer["error"]) || "no reason was given",
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/**
 * Records a sale and returns its ID. The service refuses an order ID that it has. So after an answer that was lost the same sale is sent
 * again, and what the first request has recorded is found by its order ID.
 */
export async function recordSale(
  api: Api,
  source: Source,
  sale: Sale,
  isRepeated: boolean,
): Promise<string> {
  const { adv_txid, event, notes, sale_amount, currency } = sale;
  const body = {
    offer_id: source.offer.id,
    affiliate_id: source.partner.id,
    event,
    adv_txid,
    ...(source.clickId === "" ? {} : { click_id: source.clickId }),
    ...(sale_amount === "" ? {} : { sale_amount }),
    ...(currency === "" ? {} : { currency }),
    ...(notes === "" ? {} : { notes }),
  };
  try {
    return (await read(api.POST("/conversions", { body }))).data.id;
  } catch (error) {
    const isTaken = error instanceof Problem && error.code === "conflict";
    const found = isTaken && isRepeated ? await findRecorded(api, source, sale) : undefined;
    if (found === undefined) throw error;
    return found.id;
  }
}

async function findRecorded(
  api: Api,
  { offer, partner }: Source,
  { adv_txid, event }: Sale,
): Promise<Conversion | undefined> {
  const query = { offer_id: offer.id, affiliate_id: partner.id, adv_txid, method: "api" } as const;
  const { data } = await read(api.GET("/conversions", { params: { query } }));
  return data.find((row) => row.event_code === event);
}

const ORDER_BYTES = 8;

/** An order ID for a sale that has none. */
export function generatedOrder(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ORDER_BYTES));
  return `hand-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
