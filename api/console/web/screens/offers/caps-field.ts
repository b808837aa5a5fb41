import type { FormField } from "../../records/form-field.ts";

const PERIODS = [
  ["hourly", "Hour"],
  ["daily", "Day"],
  ["weekly", "Week"],
  ["monthly", "Month"],
  ["total", "Lifetime"],
] as const;

const MEASURES = [
  ["conversions", "Conversions", "number"],
  ["clicks", "Clicks", "number"],
  // Money stays text.
  ["payout", "Payout", undefined],
  ["revenue", "Revenue", undefined],
] as const;

/** Limits by measure and period, of offers, groups and budgets. */
export function capsField(name: string, label: string): FormField {
  return {
    name,
    label,
    kind: "group",
    isSparse: true,
    fields: [
      ...MEASURES.map(
        ([measure, title, kind]): FormField => ({
          name: measure,
          label: title,
          kind: "group",
          isSparse: true,
          isFolded: true,
          fields: PERIODS.map(([period, words]) => ({ name: period, label: words, kind })),
        }),
      ),
      { name: "alert_only", label: "Alert only", kind: "flag" },
    ],
  };
}
