import { parseAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { destinationMacros, macroFaults } from "../../http/macro-faults.ts";
import type { FieldFaults } from "../../operation/operation.ts";
import type { OfferRow } from "./offer-fields.ts";
import { findOverriddenSides } from "./offers.ts";

/*
 * Faults of a body that depend on several fields. These functions check the body as sent, before its schema does, so that all faults
 * are reported together (G15). They skip a field of the wrong type: the schema reports it.
 */

type RawBody = Readonly<Record<string, unknown>>;

const HUNDRED_PERCENT = parseAmount("100") ?? 0n;

/** Percentages above 100 (G45). What the body leaves out is taken from `current`. */
export function percentFaults(body: RawBody, current: RawBody = {}, prefix = ""): FieldFaults {
  const faults: Record<string, string> = {};
  const sides = [
    ["payout", "payout_type", "cps"],
    ["revenue", "revenue_type", "rps"],
  ] as const;
  for (const [side, typeField, percentType] of sides) {
    const rate = body[side] ?? current[side];
    const isPercent = (body[typeField] ?? current[typeField]) === percentType;
    const amount = typeof rate === "string" ? parseAmount(rate) : undefined;
    if (isPercent && amount !== undefined && amount > HUNDRED_PERCENT) {
      faults[`${prefix}${side}`] = `expected at most 100 percent for ${percentType}`;
    }
  }
  return faults;
}

/** Macros that would stay literal in the URLs of a redirect. `before` is the stored offer. */
export function offerMacroFaults(sent: {
  readonly body: RawBody;
  readonly before?: RawBody;
}): FieldFaults {
  return macroFaults({ destination_url: destinationMacros, fallback_url: destinationMacros }, sent);
}

/** Codes used twice, and percentages above 100, in the events of a new offer (G42). */
export function eventFaults(events: unknown): FieldFaults {
  if (!Array.isArray(events)) return {};
  const faults: Record<string, string> = {};
  const codes = new Set<string>();
  for (const [index, event] of events.entries()) {
    if (!isObject(event)) continue;
    Object.assign(faults, percentFaults(event, {}, `events[${index}].`));
    const { code } = event;
    if (typeof code !== "string") continue;
    if (codes.has(code)) faults[`events[${index}].code`] = "used twice";
    codes.add(code);
  }
  return faults;
}

/** The posted default event: its terms fill in what a new offer leaves out (G42). */
export function findDefaultEvent(events: unknown): RawBody {
  const posted: readonly unknown[] = Array.isArray(events) ? events : [];
  return posted.filter(isObject).find(({ code }) => code === "default") ?? {};
}

/** An offer cannot change to payment per click while a partner has an override of that amount (T26). */
export async function payPerClickFaults(
  db: Queryable,
  offer: OfferRow,
  body: RawBody,
): Promise<FieldFaults> {
  const toCpc = body["payout_type"] === "cpc" && offer.payout_type !== "cpc";
  const toRpc = body["revenue_type"] === "rpc" && offer.revenue_type !== "rpc";
  if (!toCpc && !toRpc) return {};
  const overridden = await findOverriddenSides(db, offer.id);
  return {
    ...(toCpc && overridden.payout
      ? { payout_type: "partners have own payouts on this offer" }
      : {}),
    ...(toRpc && overridden.revenue
      ? { revenue_type: "partners have own revenue terms on this offer" }
      : {}),
  };
}

function isObject(value: unknown): value is RawBody {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
