import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { ConversionStatus } from "../../../schemas/events/conversion-words.ts";
import { storedIp } from "../../../schemas/net/stored-ip.ts";
import { fraudChecksOf, type Target, termsOf } from "../read/resolve-target.ts";
import { capCounts } from "../record/cap-counts.ts";
import type { AddressLimit, Recording, RecordPlan } from "../record/conversions.ts";
import { computeMoney, type Money } from "../report/conversion-terms.ts";
import type { GivenMoney } from "../report/report-params.ts";
import { type Case, judgeConversion, type Verdict } from "./judge-conversion.ts";
import { isOncePerClick, type NewConversionParts, newConversion } from "./new-conversion.ts";

/** A conversion to create, requested by a report or by staff. */
export type Creation = Omit<NewConversionParts, "terms" | "money" | "verdict"> &
  Pick<Case, "isClickIpCrowded" | "isIpAllowed" | "givenStatus"> & {
    /** When it was requested, UTC ms. */
    readonly nowMs: number;
    /** Amounts in the currency of the offer. */
    readonly given: GivenMoney;
    /** A status that staff set. It is final, and the rules of the offer are skipped (G90). */
    readonly finalStatus?: ConversionStatus | undefined;
    /** Address of the visitor; "" when it is unknown. */
    readonly address: string;
    readonly plan: Pick<
      RecordPlan,
      "on_txid" | "on_click" | "on_none" | "latest_of_click" | "names_event" | "actor" | "key_id"
    >;
  };

/** The row, and how to record it. */
export type Draft = Pick<Recording, "row" | "plan"> & { readonly money: Money };

export function draftCreation(catalog: Catalog, creation: Creation): Draft {
  const { target, click, given, address } = creation;
  const terms = termsOf(catalog, target);
  const money = computeMoney(terms, { ...given, saleAmount: given.saleAmount ?? 0n });
  const verdict = verdictOf(catalog, creation, money);
  const groups = catalog.groupsOf(target.offer.id);
  return {
    row: newConversion({ ...creation, terms, money, verdict }),
    plan: {
      ...creation.plan,
      may_be_multiple: click !== undefined && !isOncePerClick(target),
      caps: verdict.countsAgainstCaps ? capCounts({ ...target, groups }, money) : [],
      address_limit: verdict.countsAddress ? addressLimit(target, address) : null,
      timezone: target.workspace.timezone,
    },
    money,
  };
}

function verdictOf(catalog: Catalog, creation: Creation, { saleAmount }: Money): Verdict {
  const { target, finalStatus } = creation;
  if (finalStatus !== undefined) {
    const reason = finalStatus === "rejected" ? "manual" : "";
    return { status: finalStatus, reason, countsAddress: false, countsAgainstCaps: false };
  }
  return judgeConversion({
    ...creation,
    conversionId: creation.id,
    offer: target.offer,
    affiliate: target.affiliate,
    eventCode: target.event.code,
    saleAmount,
    rules: catalog.rulesOf(target.workspace.id),
    fraudChecks: fraudChecksOf(target),
  });
}

/** Null when no check counts addresses, or when the address is unknown. Addresses are compared in the form that the workspace stores. */
function addressLimit(target: Target, ip: string): AddressLimit | null {
  const { duplicate_conv_ip: same = null, duplicate_conv_subnet24: near = null } =
    fraudChecksOf(target);
  const address = storedIp(ip, target.workspace.ip_storage);
  if (address === "" || (same === null && near === null)) return null;
  return { address, same_max: same, network_max: near };
}
