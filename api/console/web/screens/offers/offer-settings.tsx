import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { offerIdChoices } from "../../client/choices.ts";
import { useMembership } from "../../member/membership.ts";
import type { FormField } from "../../records/form-field.ts";
import { SettingsSection } from "../../records/settings-section.tsx";
import { fraudChecksField } from "./fraud-checks-field.ts";

const KINDS = [
  ["text", "Short text"],
  ["long_text", "Long text"],
  ["choice", "One of a few"],
  ["multi", "Some of a few"],
  ["url", "Address"],
  ["number", "Number"],
  ["boolean", "Yes or no"],
  ["country", "Country"],
] as const;

/** Matters where an offer has several events. */
const SCOPE: FormField = {
  name: "txid_scope",
  label: "One order number is",
  hint: "Apps send one lead ID with every event: choose one conversion of each event",
  choices: [
    ["offer", "One conversion of the offer"],
    ["event", "One conversion of each event"],
  ],
};

const PASSED = [
  ["none", "None"],
  ["utm", "Those that begin with utm_"],
  ["all", "Also those without a column"],
] as const;

const CHECKS: readonly FormField[] = [
  { name: "hold_days", label: "Days that conversions are held", kind: "number" },
  {
    name: "min_seconds_to_conversion",
    label: "Minimum seconds from click to conversion",
    kind: "number",
  },
  fraudChecksField("fraud_checks", "Fraud checks in place of the workspace's"),
];

const VISITORS: readonly FormField[] = [
  {
    name: "duplicate_click_seconds",
    label: "Seconds in which a click is a duplicate",
    kind: "number",
  },
  { name: "unique_click_hours", label: "Unique-visitor window in hours", kind: "number" },
  {
    name: "fail_route_offer_id",
    label: "Offer for refused visitors",
    kind: "record",
    load: offerIdChoices,
    isNullable: true,
  },
  { name: "pass_parameters", label: "Parameters that the landing page gets", choices: PASSED },
];

const ACCESS: readonly FormField[] = [
  { name: "terms", label: "Terms that partners accept", kind: "area", isNullable: true },
  { name: "auto_approve_tiers", label: "Tiers that are approved at once", kind: "list" },
  { name: "reapply_days", label: "Days before a rejected partner can reapply", kind: "number" },
  {
    name: "access_questions",
    label: "Questions to partners",
    kind: "rows",
    row: { noun: "Question", initial: { kind: "text" } },
    fields: [
      { name: "key", label: "Key", hint: "Such as audience" },
      { name: "label", label: "Question" },
      { name: "kind", label: "Answer", choices: KINDS },
      { name: "required", label: "Must be answered", kind: "flag" },
      { name: "options", label: "Choices", kind: "list" },
    ],
  },
];

const PARTS = {
  checks: { title: "Checks", fields: CHECKS },
  checksOfEvents: { title: "Checks", fields: [SCOPE, ...CHECKS] },
  visitors: { title: "Visitors", fields: VISITORS },
  access: { title: "Asking for access", fields: ACCESS },
} as const;

/** How an offer checks conversions, routes visitors, or lets partners ask for it. */
export function OfferSettingsSection({
  id,
  part,
  mayWrite,
}: {
  readonly id: number;
  readonly part: keyof typeof PARTS;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const params = { path: { id: String(id) } };
  return (
    <SettingsSection
      {...PARTS[part]}
      name="offer-settings"
      id={id}
      mayWrite={mayWrite}
      load={async (signal) =>
        (await read(api.GET("/offers/{id}/settings", { params, signal }))).data
      }
      save={async (body) => await read(api.PATCH("/offers/{id}/settings", { params, body }))}
    />
  );
}
