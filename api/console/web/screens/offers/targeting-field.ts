import type { FormField } from "../../records/form-field.ts";
import {
  browserChoices,
  countryChoices,
  systemChoices,
  visitorLanguageChoices,
  zoneChoices,
} from "../../records/known-choices.ts";
import { cityChoices, regionChoices } from "../../records/seen-choices.ts";

const DEVICES = [
  ["desktop", "Desktop"],
  ["mobile", "Mobile"],
  ["tablet", "Tablet"],
  ["other", "Other"],
] as const;
const DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map(
  (words, index) => [String(index + 1), words] as const,
);

const WHERE: readonly FormField[] = [
  {
    name: "countries_allow",
    label: "Countries",
    kind: "list",
    load: countryChoices,
    hint: "Empty: all",
  },
  { name: "countries_deny", label: "Not these countries", kind: "list", load: countryChoices },
  { name: "regions_allow", label: "Regions", kind: "list", load: regionChoices },
  { name: "cities_allow", label: "Cities", kind: "list", load: cityChoices },
];
const WITH: readonly FormField[] = [
  { name: "devices_allow", label: "Devices", kind: "many", choices: DEVICES },
  { name: "devices_deny", label: "Not these devices", kind: "many", choices: DEVICES },
  { name: "os_allow", label: "Operating systems", kind: "list", load: systemChoices },
  { name: "os_deny", label: "Not these systems", kind: "list", load: systemChoices },
  { name: "browsers_allow", label: "Browsers", kind: "list", load: browserChoices },
  { name: "browsers_deny", label: "Not these browsers", kind: "list", load: browserChoices },
  { name: "languages_allow", label: "Languages", kind: "list", load: visitorLanguageChoices },
  {
    name: "connection",
    label: "Connection",
    isNullable: true,
    choices: [
      ["any", "Any"],
      ["no_proxy", "No proxy"],
    ],
  },
];
const SCHEDULE: FormField = {
  name: "schedule",
  label: "Schedule",
  kind: "group",
  isSparse: true,
  isFolded: true,
  fields: [
    { name: "tz", label: "Time zone", load: zoneChoices },
    { name: "days", label: "Days", kind: "many-numbers", choices: DAYS },
    { name: "hours", label: "Hours", kind: "list-numbers", hint: "0 to 23, several with commas" },
    { name: "starts_at", label: "From (UTC)", kind: "time" },
    { name: "ends_at", label: "Until (UTC)", kind: "time" },
  ],
};

/** Which visitors: of an offer, or of a rule of a smart link. */
export function targetingField(name: string, label: string): FormField {
  return {
    name,
    label,
    kind: "group",
    isSparse: true,
    isFolded: true,
    fields: [...WHERE, ...WITH, SCHEDULE],
  };
}
