import type { FraudChecks } from "../../../schemas/catalog/records.ts";
import { LANDING_RESULTS } from "../../../schemas/events/inbound-call.ts";
import { POSTBACK_RESULTS } from "../../../schemas/events/postback-request.ts";
import {
  DESTINATION_MACROS,
  PARTNER_POSTBACK_MACROS,
  STAFF_POSTBACK_MACROS,
} from "../../../schemas/macros/macro-names.ts";
import { type Rule, VISIBILITY } from "../../access/visibility-table.ts";
import type { Role } from "../../operation/permissions.ts";
import { WEBHOOK_EVENTS } from "../../records/webhook-events.ts";
import { DESTINATION_MEANINGS, POSTBACK_MEANINGS } from "./macro-meanings.ts";
import {
  FRAUD_MEANINGS,
  LANDING_MEANINGS,
  RESULT_MEANINGS,
  WEBHOOK_MEANINGS,
} from "./word-meanings.ts";

/** A table whose rows come from the code, in Markdown. */
export type GuideTable = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** What each role does not see of each of these resources. */
const SHOWN_RESOURCES = ["offer", "event", "click", "conversion", "deal", "product_feed"] as const;

/** They are about the partner who asks, so nothing is hidden from others. */
const ONLY_PARTNERS: ReadonlySet<string> = new Set(["access_status", "can_run", "tracking_link"]);

/** Tables of the guide, by the name that a page calls them. */
export const GUIDE_TABLES: Readonly<Record<string, GuideTable>> = {
  "destination-macros": {
    head: ["Macro", "Value"],
    rows: DESTINATION_MACROS.map((name) => [macro(name), DESTINATION_MEANINGS[name]]),
  },
  "postback-macros": {
    head: ["Macro", "Value"],
    rows: PARTNER_POSTBACK_MACROS.map((name) => [macro(name), POSTBACK_MEANINGS[name]]),
  },
  "staff-macros": {
    head: ["Macro", "Value"],
    rows: STAFF_POSTBACK_MACROS.filter(
      (name) => !PARTNER_POSTBACK_MACROS.some((known) => known === name),
    ).map((name) => [macro(name), POSTBACK_MEANINGS[name]]),
  },
  "result-words": {
    head: ["Result", "What happened"],
    rows: POSTBACK_RESULTS.map((word) => [code(word), RESULT_MEANINGS[word]]),
  },
  "landing-results": {
    head: ["Result", "What happened"],
    rows: LANDING_RESULTS.map((word) => [code(word), LANDING_MEANINGS[word]]),
  },
  "webhook-events": {
    head: ["Event", "Sent when", "`data`"],
    rows: WEBHOOK_EVENTS.map((event) => [code(event), ...WEBHOOK_MEANINGS[event]]),
  },
  "fraud-checks": {
    head: ["Check", "Value", "Rejects a conversion"],
    rows: Object.entries(FRAUD_MEANINGS satisfies Record<keyof FraudChecks, unknown>).map(
      ([name, cells]) => [code(name), ...cells],
    ),
  },
  "hidden-from-partners": hiddenFrom("partner"),
  "hidden-from-advertisers": hiddenFrom("advertiser"),
};

function hiddenFrom(role: Role): GuideTable {
  const rows = SHOWN_RESOURCES.flatMap((resource) => {
    const rule: Rule = VISIBILITY[resource];
    const hidden = (rule.hidden[role] ?? []).filter((field) => !ONLY_PARTNERS.has(field));
    return hidden.length === 0 ? [] : [[resource.replace("_", " "), hidden.map(code).join(", ")]];
  });
  return { head: ["Record", "Fields left out"], rows };
}

function macro(name: string): string {
  return code(`{${name}}`);
}

function code(text: string): string {
  return `\`${text}\``;
}
