import { formatCountry } from "../../format/country.ts";
import { formatLanguage } from "../../format/language.ts";
import type { Fact } from "../../parts/facts.tsx";

type Targeting = Readonly<Record<string, unknown>>;

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LISTS: readonly (readonly [kind: string, title: string])[] = [
  ["devices", "Devices"],
  ["os", "Operating systems"],
  ["browsers", "Browsers"],
];

/** Which visitors an offer accepts, in words. A condition that is left out accepts all visitors. */
export function audienceFacts(targeting: Targeting): readonly Fact[] {
  return [
    ["Countries", accepted(targeting, "countries", formatCountry) || "All"],
    ["Regions", named(targeting["regions_allow"])],
    ["Cities", named(targeting["cities_allow"])],
    ...LISTS.map(([kind, title]): Fact => {
      const words = accepted(targeting, kind, kind === "devices" ? capital : String);
      return [title, kind === "devices" ? words || "All" : words];
    }),
    ["Languages", texts(targeting["languages_allow"]).map(formatLanguage).join(", ")],
    ["Connection", targeting["connection"] === "no_proxy" ? "No proxies" : ""],
    ["Schedule", scheduleText(targeting["schedule"])],
  ];
}

function accepted(targeting: Targeting, kind: string, name: (one: string) => string): string {
  const allowed = texts(targeting[`${kind}_allow`]).map(name).join(", ");
  const denied = texts(targeting[`${kind}_deny`]).map(name).join(", ");
  if (denied === "") return allowed;
  return allowed === "" ? `All but ${denied}` : `${allowed}, but not ${denied}`;
}

function named(value: unknown): string {
  return texts(value).join(", ");
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function scheduleText(schedule: unknown): string {
  if (typeof schedule !== "object" || schedule === null) return "";
  const { days, hours, tz, starts_at: from, ends_at: until } = { ...schedule } as Targeting;
  const parts = [
    texts(days)
      .map((day) => DAYS[Number(day) - 1] ?? day)
      .join(", "),
    texts(hours).length === 0 ? "" : `from ${texts(hours).join(", ")} o'clock`,
    typeof from === "string" ? `from ${from.slice(0, 10)}` : "",
    typeof until === "string" ? `until ${until.slice(0, 10)}` : "",
  ].filter((part) => part !== "");
  if (parts.length === 0) return "";
  return `${parts.join(", ")} (${typeof tz === "string" ? tz : "UTC"})`;
}
