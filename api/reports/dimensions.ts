import {
  formatDay,
  isoWeek,
  mondayOf,
  parseDay,
  weekdayName,
} from "../../schemas/time/calendar.ts";
import { HOUR_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import { DELAY_STEPS } from "./delay-steps.ts";
import type { ReportRole } from "./report-scope.ts";

/** Sources of the rows of a report. */
export const SOURCES = ["click", "impression", "conversion", "cost"] as const;
export type Source = (typeof SOURCES)[number];

/**
 * `id` is a positive integer, 0 for none · `text` is "" for none · `flag` is "true" or "false", "" if the source has none · `delay` is one
 * of {@link DELAY_STEPS}, its number within a statement, "" for none · the others are parts of local time, numbers within a statement.
 */
export type DimensionKind = "id" | "text" | "flag" | "delay" | TimeKind;
export type TimeKind =
  | "date"
  | "week"
  | "month"
  | "hour"
  | "hour_start"
  | "hour_of_day"
  | "weekday";

/** Kinds of records whose names label the ids of a dimension. */
export type Entity = "offer" | "affiliate" | "advertiser" | "smart_link" | "manager" | "event";

export type Dimension = {
  readonly name: string;
  /** Heading of its column. */
  readonly label: string;
  readonly kind: DimensionKind;
  readonly entity: Entity | undefined;
  /** Roles that may neither group, filter nor sort by it (G64, REP-057). */
  readonly hiddenFrom: readonly ReportRole[];
  /** The column in each source; "" if the source does not have the dimension. Time has no column of its own. */
  readonly columns: Readonly<Record<Source, string>>;
  /** Set for an attribute of one source only: a filter on it judges that source and ignores the others (README). */
  readonly only: "click" | "conversion" | undefined;
};

/** Keeps advertisers and partners from probing hidden fields with a filter (VIS-059). */
const NOT_PARTNER = ["partner"] as const;
const NOT_ADVERTISER = ["advertiser"] as const;
const STAFF_ONLY = ["partner", "advertiser"] as const;

const TIME_KINDS: ReadonlySet<DimensionKind> = new Set([
  "date",
  "week",
  "month",
  "hour",
  "hour_start",
  "hour_of_day",
  "weekday",
]);

const SUB_COUNT = 10;
const subs = Array.from({ length: SUB_COUNT }, (_, index) => `sub${index + 1}`);

const ALL: readonly Dimension[] = [
  entity("offer", "Offer", { columns: everywhere("offer_id") }),
  entity("affiliate", "Affiliate", { columns: everywhere("affiliate_id") }),
  entity("advertiser", "Advertiser", {
    columns: everywhere("advertiser_id"),
    hiddenFrom: NOT_PARTNER,
  }),
  entity("smart_link", "Smart link", {
    columns: carried("smart_link_id", ["click", "conversion"]),
    hiddenFrom: NOT_ADVERTISER,
  }),
  entity("event", "Event", {
    kind: "text",
    columns: carried("event_code", ["conversion"]),
    only: "conversion",
  }),
  text("status", "Status", { columns: carried("status", ["conversion"]), only: "conversion" }),
  time("date", "Date"),
  time("hour", "Hour"),
  time("week", "Week"),
  time("month", "Month"),
  text("country", "Country"),
  text("region", "Region"),
  text("city", "City"),
  text("device_type", "Device type"),
  text("os", "OS"),
  text("browser", "Browser"),
  text("traffic_source", "Traffic source", { columns: everywhere("traffic_source") }),
  text("source_id", "Source ID", { hiddenFrom: NOT_ADVERTISER }),
  ...subs.map((name, index) => text(name, `Sub ${index + 1}`, { hiddenFrom: NOT_ADVERTISER })),
  text("ext_campaign_id", "Campaign ID", { columns: everywhere("ext_campaign_id") }),
  text("ext_adgroup_id", "Ad group ID", { columns: everywhere("ext_adgroup_id") }),
  text("ext_ad_id", "Ad ID"),
  text("ext_keyword", "Keyword"),
  text("ext_placement", "Placement"),
  text("link_type", "Link type", { columns: carried("link_type", ["click", "conversion"]) }),
  text("domain", "Domain"),
  text("method", "Method", { columns: carried("method", ["conversion"]), only: "conversion" }),
  entity("manager", "Manager", {
    columns: carried("manager", ["click", "impression", "conversion"]),
    hiddenFrom: STAFF_ONLY,
  }),
  text("currency", "Currency", { columns: carried("currency", ["click", "conversion"]) }),
  clickOnly("click_status", "Click status", { column: "status" }),
  clickOnly("status_reason", "Status reason", { column: "status_reason" }),
  clickOnly("is_unique", "Unique", { column: "is_unique", kind: "flag" }),
  // Advertisers do not see the count of bots, and a filter would reveal it (VIS-050, VIS-059).
  clickOnly("is_bot", "Bot", { column: "is_bot", kind: "flag", hiddenFrom: STAFF_ONLY }),
  clickOnly("is_datacenter", "Datacenter", {
    column: "is_datacenter",
    kind: "flag",
    hiddenFrom: STAFF_ONLY,
  }),
  clickOnly("referrer_host", "Referrer host", { column: "referrer_host" }),
  text("conversion_reason", "Conversion reason", {
    columns: carried("status_reason", ["conversion"]),
    only: "conversion",
  }),
  text("creative", "Creative", { columns: carried("creative_id", ["impression"]) }),
  time("hour_of_day", "Hour of day"),
  time("weekday", "Weekday"),
  clickOnly("language", "Language", { column: "language" }),
  clickOnly("os_version", "OS version", { column: "os_version" }),
  text("conversion_delay", "Conversion delay", {
    kind: "delay",
    columns: carried("click_ts", ["conversion"]),
    only: "conversion",
  }),
  // From the address, which only staff sees (G84).
  clickOnly("isp", "Internet provider", { column: "as_name", hiddenFrom: STAFF_ONLY }),
];

const BY_NAME: ReadonlyMap<string, Dimension> = new Map(ALL.map((one) => [one.name, one]));

/** Undefined for a name that does not exist and for one that this role cannot see: both get the same refusal (REP-057). */
export function findDimension(name: string, role: ReportRole): Dimension | undefined {
  const found = BY_NAME.get(name);
  return found === undefined || found.hiddenFrom.includes(role) ? undefined : found;
}

/** Names in documented order. */
export function dimensionNames(role: ReportRole): string[] {
  return dimensionsOf(role).map(({ name }) => name);
}

/** The dimensions that a role may see, in documented order. */
export function dimensionsOf(role: ReportRole): readonly Dimension[] {
  return ALL.filter((one) => !one.hiddenFrom.includes(role));
}

/** The value of rows without the dimension, as statements have it. Parts of time are never without. */
export function emptyValueOf(kind: DimensionKind): 0 | "" {
  return kind === "id" || kind === "delay" ? 0 : "";
}

export function isTime(kind: DimensionKind): kind is TimeKind {
  return TIME_KINDS.has(kind);
}

/** The dimension of a series, which nobody can group by. */
export const BUCKET = "bucket";

/** The buckets of a series: a date, or the instant at which an hour of the zone begins (G80). */
export function bucketDimension(interval: "day" | "hour"): Dimension {
  const kind = interval === "day" ? "date" : "hour_start";
  return text(BUCKET, "Bucket", { kind, columns: everywhere(BUCKET) });
}

/** Converts a value of a statement to what the answer shows (G65). */
export function dimensionValue(kind: DimensionKind, stored: string | number): string | number {
  const number = Number(stored);
  switch (kind) {
    case "date":
    case "week":
      return formatDay(number);
    case "hour":
      return `${new Date(number * HOUR_MS).toISOString().slice(0, 13)}:00`;
    case "hour_start":
      return new Date(number * SECOND_MS).toISOString();
    case "month":
      return `${Math.floor(number / 100)}-${String(number % 100).padStart(2, "0")}`;
    case "id":
    case "hour_of_day":
    case "weekday":
      return number;
    case "delay":
      return DELAY_STEPS[number - 1]?.name ?? "";
    case "text":
    case "flag":
      return String(stored);
  }
}

/** Label and second line of a value that is not a record (G65). */
export function dimensionLabel(
  kind: DimensionKind,
  value: string | number,
): { label: string; sub: string } {
  const day = parseDay(String(value));
  if (kind === "date" && day !== undefined) return { label: String(value), sub: weekdayName(day) };
  if (kind === "hour_of_day") return { label: `${String(value).padStart(2, "0")}:00`, sub: "" };
  if (kind === "delay") {
    const label = DELAY_STEPS.find(({ name }) => name === value)?.label ?? "";
    return { label, sub: "" };
  }
  // 5 January 1970 was a Monday.
  if (kind === "weekday") return { label: weekdayName(Number(value) + 3), sub: "" };
  if (kind === "week" && day !== undefined) return { label: isoWeek(mondayOf(day)), sub: "" };
  return { label: String(value), sub: "" };
}

type Rest = Partial<Pick<Dimension, "kind" | "columns" | "hiddenFrom" | "only">>;

function text(name: string, label: string, rest: Rest = {}): Dimension {
  return {
    name,
    label,
    kind: "text",
    entity: undefined,
    hiddenFrom: [],
    columns: carried(name, ["click", "impression", "conversion"]),
    only: undefined,
    ...rest,
  };
}

function entity(name: Entity, label: string, rest: Rest): Dimension {
  return { ...text(name, label, { kind: "id", ...rest }), entity: name };
}

function time(name: Exclude<TimeKind, "hour_start">, label: string): Dimension {
  return text(name, label, { kind: name, columns: everywhere(name) });
}

function clickOnly(
  name: string,
  label: string,
  { column, ...rest }: Rest & { column: string },
): Dimension {
  return text(name, label, { columns: carried(column, ["click"]), only: "click", ...rest });
}

function everywhere(column: string): Dimension["columns"] {
  return carried(column, SOURCES);
}

function carried(column: string, sources: readonly Source[]): Dimension["columns"] {
  const columnIn = (source: Source): string => (sources.includes(source) ? column : "");
  return {
    click: columnIn("click"),
    impression: columnIn("impression"),
    conversion: columnIn("conversion"),
    cost: columnIn("cost"),
  };
}
