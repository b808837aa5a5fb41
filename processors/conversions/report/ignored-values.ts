import { AD_CLICK_ID_KINDS } from "../../../schemas/events/click-query.ts";
import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ADV_PARAMS, ALIASES } from "../../../schemas/events/report-aliases.ts";
import { isNoValue, isUnreplacedName } from "../../../schemas/names/no-value.ts";

type Params = PostbackRequest["params"];

const KEY_HEADER = "Idempotency-Key";

/**
 * Parameters that may have any text. Event, status, money, currency, click ID and conversion ID are not among them: without them the report
 * would mean something else, so it is refused.
 */
const FREE_PARAMS: readonly string[] = [
  ...ALIASES.txid,
  ...AD_CLICK_ID_KINDS,
  ...ALIASES.coupon,
  ...ALIASES.email,
  ...ALIASES.phone,
  ...ALIASES.userIp,
  ...ADV_PARAMS,
  "first_click_id",
  "idempotency_key",
];
/** Parameters that name a record by its code. */
const NAMING_PARAMS: readonly string[] = [...ALIASES.offer, ...ALIASES.affiliate];

export type GivenValues = {
  readonly params: Params;
  readonly idempotencyKey: string | undefined;
  /** Names of the parameters that are left out because they contain no value (G216). */
  readonly ignored: readonly string[];
};

/** The parameters of a report, without texts that are no value: `txid={order_id}` must not identify an order (G216). */
export function givenValues({
  params,
  idempotencyKey,
}: Pick<PostbackRequest, "params" | "idempotencyKey">): GivenValues {
  const hasNoKey = idempotencyKey !== undefined && isNoValue(idempotencyKey);
  const ignored = [
    ...FREE_PARAMS.filter((name) => isNoValue(params[name] ?? "")),
    ...NAMING_PARAMS.filter((name) => isUnreplacedName(params[name] ?? "")),
  ];
  if (ignored.length === 0 && !hasNoKey) return { params, idempotencyKey, ignored };
  const given = Object.entries(params).filter(([name]) => !ignored.includes(name));
  return {
    params: Object.fromEntries(given),
    idempotencyKey: hasNoKey ? undefined : idempotencyKey,
    ignored: hasNoKey ? [...ignored, KEY_HEADER] : ignored,
  };
}

/** For the inbound log, and for the answer of a pixel; "" if nothing was ignored. */
export function ignoredNote(ignored: readonly string[]): string {
  return ignored.length === 0
    ? ""
    : `no value in ${ignored.join(", ")}: a name in place of a value is ignored`;
}

/** `first; second`, without empty parts. */
export function joinNotes(...notes: readonly (string | undefined)[]): string {
  return notes.filter((note) => note !== undefined && note !== "").join("; ");
}
