import type { ClickhouseEditor } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { AddressForms } from "./address-forms.ts";
import {
  eraseClickColumns,
  eraseVisitors,
  findClicksOfAddress,
  findErasableClicks,
} from "./erase-clicks.ts";
import {
  eraseAddressOfConversions,
  eraseConversions,
  findConversions,
} from "./erase-conversions.ts";
import {
  eraseDeliveriesMatching,
  eraseDeliveriesOf,
  eraseLogOf,
  eraseLogValues,
} from "./erase-logs.ts";

export type Stores = { readonly db: Queryable; readonly clickhouse: ClickhouseEditor };

/** Rows changed. */
export type Erased = {
  readonly clicks: number;
  readonly conversions: number;
  readonly log_rows: number;
  readonly deliveries: number;
};

export type Person = {
  readonly workspaceId: number;
  readonly clickIds: readonly string[];
  /** Keyed hash of the e-mail's hash. Conversions with it up to `untilMs` are cleared. */
  readonly email: { readonly key: string; readonly hash: string } | undefined;
  readonly untilMs: number;
  /** Clicks before this time also lose their visitor hash, which is no longer needed for uniqueness. */
  readonly visitorsBeforeMs?: number | undefined;
  /** Called with all clicks of the person before anything is erased: afterwards they could not be found again. */
  readonly keep: (clickIds: readonly string[]) => Promise<void>;
};

/**
 * Clears personal data of a person, identified by clicks or an e-mail, in clicks, conversions, the inbound log and deliveries. Rows stay,
 * and so does everything that reports count, sum or group by. Rows by which other rows are found are cleared last, so that a repeat
 * completes an interrupted call.
 */
export async function erasePerson({ db, clickhouse }: Stores, person: Person): Promise<Erased> {
  const { workspaceId, untilMs } = person;
  const email = person.email && { ...person.email, untilMs };
  const first = await findConversions(db, { workspaceId, clickIds: person.clickIds, email });
  const clickIds = [
    ...new Set([...person.clickIds, ...first.flatMap((one) => one.click_id ?? [])]),
  ];
  await person.keep(clickIds);
  const conversions = await findConversions(db, { workspaceId, clickIds, email });
  const clicks = await findErasableClicks(clickhouse, { workspaceId, clickIds });
  const conversionIds = conversions.map(({ id }) => id);
  const addresses = wholeAddresses([
    ...clicks.map(({ ip }) => ip),
    ...conversions.map(({ visitor_ip }) => visitor_ip ?? ""),
  ]);
  const adIds = unique([...clicks, ...conversions].flatMap(({ ad_ids }) => ad_ids));
  const values = [...addresses, ...adIds];
  const linked = await eraseLogOf(db, { workspaceId, clickIds, conversionIds });
  const inLog = { workspaceId, addresses, values, senders: "visitors", untilMs } as const;
  const others = await eraseLogValues(db, inLog);
  const deliveries = await eraseDeliveriesOf(db, { conversionIds, values: withEncoded(values) });
  const changed = await eraseConversions(db, conversionIds);
  const erasable = clicks.map(({ id }) => id);
  await eraseClickColumns(clickhouse, { workspaceId, clickIds: erasable });
  const { visitorsBeforeMs } = person;
  if (visitorsBeforeMs !== undefined)
    await eraseVisitors(clickhouse, { workspaceId, clickIds }, visitorsBeforeMs);
  return { clicks: clicks.length, conversions: changed, log_rows: linked + others, deliveries };
}

/** Clicks of one address that one call clears; the next call clears more. */
const CLICKS_MAX = 200_000;

export type Address = {
  readonly workspaceId: number;
  readonly forms: AddressForms;
  /** Later rows are not changed. UTC ms. */
  readonly untilMs: number;
};

/** Clears an address, whole or truncated, in clicks, conversions, the inbound log and deliveries. */
export async function eraseAddress(
  { db, clickhouse }: Stores,
  { workspaceId, forms, untilMs }: Address,
): Promise<Erased> {
  const addresses = [...forms.whole, ...forms.truncated];
  const pattern = patternOf(withEncoded(forms.whole));
  const clicks = await findClicksOfAddress(clickhouse, {
    workspaceId,
    addresses,
    untilMs,
    pattern,
    rowsMax: CLICKS_MAX,
  });
  const clickIds = clicks.map(({ id }) => id);
  const inLog = { workspaceId, addresses, values: addresses, senders: "all", untilMs } as const;
  const log_rows = await eraseLogValues(db, inLog);
  const deliveries = await eraseDeliveriesMatching(db, { workspaceId, pattern, untilMs });
  const erased = { workspaceId, addresses, clickIds, untilMs };
  const conversions = await eraseAddressOfConversions(db, erased);
  const having = (place: "in_ip" | "in_text"): string[] =>
    clicks.filter((click) => click[place]).map(({ id }) => id);
  const [withIp, withText] = [having("in_ip"), having("in_text")];
  await eraseClickColumns(clickhouse, { workspaceId, clickIds: withIp }, ["ip"]);
  const texts = ["destination", "referrer", "extra"] as const;
  await eraseClickColumns(clickhouse, { workspaceId, clickIds: withText }, texts);
  return { clicks: clicks.length, conversions, log_rows, deliveries };
}

/** Without truncated forms: many visitors share a truncated address, so it identifies no row. */
function wholeAddresses(addresses: readonly string[]): string[] {
  return unique(addresses.filter((ip) => ip !== "" && !/(\.0|::)$/.test(ip)));
}

function withEncoded(values: readonly string[]): string[] {
  return unique(values.flatMap((value) => [value, encodeURIComponent(value)]));
}

/** What may stand next to an IPv4 address that is not part of a longer one; the same for IPv6, where a colon may be `%3A`. */
const BESIDE_IPV4 = "[^0-9.:]";
const BESIDE_IPV6 = "%(?:[0-24-9a-f][0-9a-f]|3[0-9b-f])|[^0-9a-f.:%]";

/** Matches a text with one of these addresses, for ClickHouse and for Postgres, but none with a longer address. */
function patternOf(addresses: readonly string[]): string {
  const whole = (these: readonly string[], beside: string): string[] => {
    const escaped = these.map((address) => address.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return these.length === 0 ? [] : [`(^|${beside})(${escaped.join("|")})($|${beside})`];
  };
  const isIpv6 = (address: string): boolean => /:|%3a/i.test(address);
  const [v4, v6] = [addresses.filter((one) => !isIpv6(one)), addresses.filter(isIpv6)];
  return `(?i)(?:${[...whole(v4, BESIDE_IPV4), ...whole(v6, BESIDE_IPV6)].join("|")})`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
