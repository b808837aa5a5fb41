import { createHash } from "node:crypto";
import { AD_CLICK_ID_KINDS, type AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { AD_CLICK_ID_LENGTH_MAX, VALUE_LENGTH_MAX } from "../../../schemas/events/click-record.ts";
import {
  CONVERSION_STATUSES,
  type ConversionStatus,
} from "../../../schemas/events/conversion-words.ts";
import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ADV_PARAMS, ALIASES } from "../../../schemas/events/report-aliases.ts";
import { parseClickId } from "../../../schemas/ids/click-id.ts";
import { type Amount, amountFault, parseSentAmount } from "../../../schemas/money/amount.ts";
import { normalIp } from "../../../schemas/net/address.ts";
import { givenValues } from "./ignored-values.ts";

/** A report's parameters, each valid on its own and not yet compared with any record. Absent parameters are undefined. */
export type Report = {
  readonly clickId: string | undefined;
  readonly adClickId: { readonly kind: AdClickIdKind; readonly value: string } | undefined;
  readonly firstClickId: string | undefined;
  readonly eventCode: string;
  /** Whether the report says which event it means. */
  readonly namesEvent: boolean;
  readonly money: GivenMoney;
  readonly currency: string | undefined;
  readonly txid: string | undefined;
  readonly status: ConversionStatus | undefined;
  readonly offerCode: string | undefined;
  readonly affiliateCode: string | undefined;
  readonly couponCode: string | undefined;
  readonly conversionId: string | undefined;
  readonly emailHash: string | undefined;
  readonly phoneHash: string | undefined;
  readonly userIp: string | undefined;
  /** adv1 to adv5. */
  readonly params: Readonly<Record<string, string>>;
  readonly isTest: boolean;
  /** Postbacks only (G203). */
  readonly idempotencyKey: string | undefined;
  /** Whether the pixel was fired by the script (G158). */
  readonly isScript: boolean;
  /** Names of the parameters that are left out because they contain no value (G216). */
  readonly ignored: readonly string[];
};

/** Amounts as given, in the currency of the report. */
export type GivenMoney = {
  readonly saleAmount: Amount | undefined;
  readonly revenue: Amount | undefined;
  readonly payout: Amount | undefined;
};

export type ReadReport = { readonly kind: "report"; readonly report: Report } | Malformed;
export type Malformed = {
  readonly kind: "malformed";
  readonly error: string;
  /** As in {@link Report}. */
  readonly ignored: readonly string[];
} & RefusalNotes;

/** More about a refusal whose text the contract fixes. */
type RefusalNotes = {
  /** What to do about it: for the inbound log and the answer of a pixel. */
  readonly hint?: string;
  /** Why, for everybody. */
  readonly reason?: string;
};

/** Why a pixel names no click. Most often its cookie did not arrive. */
export const NO_CLICK_OF_PIXEL =
  "no click_id, gclid, gbraid, wbraid or msclkid was sent, and no cookie trk_cid. " +
  "A browser sends this cookie to another site only over https, and some browsers never do";

const EVENT_CODE_LENGTH_MAX = 64;
const EMAIL_LENGTH_MAX = 254;
const TXID = /^[\x20-\x7e\u00a0-\uffff]{1,128}$/;
const COUPON = /^[\x21-\x7e\u00a1-\uffff]{1,64}$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CURRENCY = /^[A-Za-z]{3}$/;
const IDEMPOTENCY_KEY = /^[A-Za-z0-9._-]{1,64}$/;
const YES = ["1", "true", "yes", "on"];
const NO = ["0", "false", "no", "off"];
/** The largest amount (G118), in ten-thousandths. */
const AMOUNT_MAX: Amount = 10n ** 16n;

type RawParams = Pick<PostbackRequest, "endpoint" | "params" | "cookieClickId" | "idempotencyKey">;

/** Reads the parameters of a report. Refuses invalid values (limits G118). */
export function readReport(rawReport: RawParams): ReadReport {
  const { ignored, ...given } = givenValues(rawReport);
  try {
    return { kind: "report", report: { ...parseReport({ ...rawReport, ...given }), ignored } };
  } catch (error) {
    if (error instanceof Refusal)
      return { kind: "malformed", error: error.message, ...error.notes, ignored };
    throw error;
  }
}

/** Stops the reading of one report. Is caught in this file. */
class Refusal extends Error {
  override readonly name = "Refusal";
  readonly notes: RefusalNotes;

  constructor(error: string, notes: RefusalNotes = {}) {
    super(error);
    this.notes = notes;
  }
}

type Params = PostbackRequest["params"];

function parseReport({
  endpoint,
  params,
  cookieClickId,
  idempotencyKey,
}: RawParams): Omit<Report, "ignored"> {
  const isPixel = endpoint === "px";
  const report = {
    ...parseClickIdentifiers(params, isPixel ? cookieClickId : ""),
    eventCode: bounded(
      text(params, ["event"]) ?? "default",
      EVENT_CODE_LENGTH_MAX,
      "event code too long",
    ),
    namesEvent: text(params, ["event"]) !== undefined,
    money: {
      saleAmount: money(params, ALIASES.saleAmount, "amount"),
      revenue: money(params, ["revenue"], "revenue"),
      payout: money(params, ["payout"], "payout"),
    },
    currency: matching(params, ["currency"], CURRENCY, "invalid currency")?.toUpperCase(),
    txid: matching(params, ALIASES.txid, TXID, "invalid txid"),
    status: status(params),
    offerCode: text(params, ALIASES.offer),
    affiliateCode: text(params, ALIASES.affiliate),
    couponCode: matching(params, ALIASES.coupon, COUPON, "invalid coupon_code"),
    conversionId: conversionId(params),
    emailHash: emailHash(params),
    phoneHash: phoneHash(params),
    userIp: userIp(params),
    params: freeValues(params),
    isTest: isTest(params),
    idempotencyKey: isPixel ? undefined : keyOf(params, idempotencyKey),
    isScript: isPixel && text(params, ["js"]) === "1",
  };
  assertIdentified(report, isPixel);
  return report;
}

function parseClickIdentifiers(
  params: Params,
  cookieClickId: string,
): Pick<Report, "clickId" | "adClickId" | "firstClickId"> {
  const given = text(params, ALIASES.clickId);
  if (given !== undefined) bounded(given, AD_CLICK_ID_LENGTH_MAX, "click identifier too long");
  const clickId = given === undefined ? undefined : parseClickId(given);
  if (given !== undefined && clickId === undefined) {
    throw new Refusal("invalid click_id (expected 32 hex characters)");
  }
  const kind = AD_CLICK_ID_KINDS.find((name) => text(params, [name]) !== undefined);
  const value = kind === undefined ? undefined : text(params, [kind]);
  if (value !== undefined) bounded(value, AD_CLICK_ID_LENGTH_MAX, "click identifier too long");
  return {
    // The cookie comes from the visitor's browser: a value that is not a click id is ignored.
    clickId: clickId ?? (kind === undefined ? parseClickId(cookieClickId) : undefined),
    adClickId: kind === undefined || value === undefined ? undefined : { kind, value },
    firstClickId: parseClickId(text(params, ["first_click_id"]) ?? ""),
  };
}

function assertIdentified(report: Omit<Report, "ignored">, isPixel: boolean): void {
  if (isPixel && report.conversionId !== undefined) {
    throw new Refusal("conversion_id updates need a server-to-server postback");
  }
  const hasClick = report.clickId !== undefined || report.adClickId !== undefined;
  const hasOther = [report.couponCode, report.emailHash, report.offerCode].some(
    (value) => value !== undefined,
  );
  if (hasClick || hasOther) return;
  if (isPixel) throw new Refusal("click_id required", { hint: NO_CLICK_OF_PIXEL });
  if (
    report.conversionId !== undefined ||
    report.txid !== undefined ||
    report.affiliateCode !== undefined
  )
    return;
  throw new Refusal(
    "missing identifier (click_id, gclid, gbraid, wbraid, msclkid, conversion_id, txid, coupon_code, email or offer_id)",
  );
}

/** The first alias with a value; an empty string counts as absent (G119). */
function text(params: Params, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = params[name]?.trim();
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

function matching(
  params: Params,
  names: readonly string[],
  form: RegExp,
  error: string,
): string | undefined {
  const value = text(params, names);
  if (value !== undefined && !form.test(value)) throw new Refusal(error);
  return value;
}

function bounded(value: string, lengthMax: number, error: string): string {
  if (value.length > lengthMax) throw new Refusal(error);
  return value;
}

function money(params: Params, names: readonly string[], name: string): Amount | undefined {
  const value = text(params, names);
  if (value === undefined) return undefined;
  const amount = parseSentAmount(value);
  const fault = amount === undefined ? amountFault(value) : "is too large";
  if (amount === undefined || amount > AMOUNT_MAX)
    throw new Refusal(invalidAmount(name), fault === undefined ? {} : { reason: `it ${fault}` });
  return amount;
}

export function invalidAmount(name: string): string {
  return `invalid ${name} (plain decimal, non-negative, in range)`;
}

function status(params: Params): ConversionStatus | undefined {
  const value = text(params, ["status"]);
  if (value === undefined) return undefined;
  const known = CONVERSION_STATUSES.find((word) => word === value);
  if (known === undefined) throw new Refusal("invalid status (approved|pending|rejected)");
  return known;
}

/** Nobody knows whether a report with another value is meant to count, so it is refused (G227). */
function isTest(params: Params): boolean {
  const value = text(params, ["test"])?.toLowerCase();
  if (value === undefined || NO.includes(value)) return false;
  if (YES.includes(value)) return true;
  throw new Refusal("invalid test (1|true|yes|on, or 0|false|no|off)");
}

/** The header wins over the parameter. */
function keyOf(params: Params, header: string | undefined): string | undefined {
  const key = header ?? text(params, ["idempotency_key"]);
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key))
    throw new Refusal("invalid idempotency key (1 to 64 letters, digits, . _ or -)");
  return key;
}

function conversionId(params: Params): string | undefined {
  const value = text(params, ["conversion_id"])?.toLowerCase();
  if (value !== undefined && !UUID.test(value)) throw new Refusal("invalid conversion_id (UUID)");
  return value;
}

/** Only the hash is stored (G114). All spellings of one address have the same hash. */
function emailHash(params: Params): string | undefined {
  // No address has a blank, but a plus that is not encoded becomes one.
  const value = text(params, ALIASES.email)?.replaceAll(" ", "+");
  if (value === undefined) return undefined;
  if (value.length > EMAIL_LENGTH_MAX || !EMAIL.test(value)) throw new Refusal("invalid email");
  return sha256(value.toLowerCase());
}

function phoneHash(params: Params): string | undefined {
  const digits = text(params, ALIASES.phone)?.replace(/\D/g, "");
  return digits === undefined || digits === "" ? undefined : sha256(digits);
}

function userIp(params: Params): string | undefined {
  const ip = normalIp(text(params, ALIASES.userIp) ?? "");
  return ip === "" ? undefined : ip;
}

function freeValues(params: Params): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of ADV_PARAMS) {
    const value = params[name];
    if (value !== undefined && value !== "") values[name] = value.slice(0, VALUE_LENGTH_MAX);
  }
  return values;
}

function sha256(value: string): string {
  return createHash("sha256").update(value).digest("hex");
}
