import { CLICK_STATUSES, DEVICE_TYPES, LINK_TYPES } from "../../schemas/events/click-record.ts";
import { CONVERSION_METHODS, CONVERSION_STATUSES } from "../../schemas/events/conversion-words.ts";
import { CURRENCY_CODES } from "../../schemas/money/currencies.ts";
import { findNearest } from "../../schemas/names/nearest-name.ts";
import { COUNTRY_CODES } from "../fields/iso-codes.ts";

/** A value that rows have, and what people and our screens call it. Case does not matter. */
type Known = { readonly value: string; readonly names: readonly string[] };

/** Shown by the console for rows without a value. */
const NONE = "(none)";

/** Codes in address data that are not in ISO 3166, and what people write for a country besides its name. */
const MORE_COUNTRIES: readonly string[] = ["XK"];
const COUNTRY_NAMES: Readonly<Record<string, readonly string[]>> = {
  GB: ["UK", "Great Britain"],
  US: ["USA", "United States of America"],
  CZ: ["Czech Republic"],
  TR: ["Turkey"],
  AE: ["UAE"],
  HK: ["Hong Kong"],
  MO: ["Macao"],
  MM: ["Myanmar"],
};

/** Why a click was not redirected to the offer (G143), has no redirect, or had its `url=` refused (G137). */
const CLICK_REASONS: readonly string[] =
  `workspace_inactive paused not_approved traffic_source targeting cap cap_over traffic_control forwarded duplicate bad_destination
   fail_route no_match lp organic coupon duplicate_url empty too_long invalid scheme credentials ip_host local_host bad_host not_allowed
   unsafe_target`.split(/\s+/);

/** The usual systems, as the parser of user agents writes them. Others may be in the table: see {@link OPEN_LISTS}. */
const SYSTEMS = lines(`Windows
  macOS
  iOS
  Android
  Linux
  Ubuntu
  Debian
  Fedora
  Chromium OS
  HarmonyOS
  Windows Phone
  Windows Mobile
  BlackBerry
  Tizen
  KAIOS
  webOS
  watchOS
  Chromecast
  Firefox OS
  PlayStation
  Xbox
  Nintendo
  FreeBSD
  Solaris
  Symbian
  Sailfish`);
const BROWSERS = lines(`Chrome
  Safari
  Firefox
  Edge
  Opera
  Samsung Internet
  Opera Mini
  Opera GX
  Opera Touch
  Firefox Focus
  Firefox Reality
  IE
  Chromium
  Android Browser
  UCBrowser
  MIUI Browser
  Huawei Browser
  Vivo Browser
  HeyTap
  Yandex
  Vivaldi
  Brave
  DuckDuckGo
  Silk
  WeChat
  QQBrowser
  QQ
  Baidu
  Whale
  Coc Coc
  Puffin
  Maxthon
  360 Browser
  Sogou Explorer
  Sogou Mobile
  GSA
  Facebook
  Instagram
  Snapchat
  TikTok
  Twitter
  LinkedIn
  Line
  Naver
  WebKit
  Mozilla
  Netscape
  Konqueror
  PhantomJS
  Electron`);

/** The closed lists by dimension. The first known value of a name is meant. */
const LISTS: Readonly<Record<string, readonly Known[]>> = {
  country: countries(),
  currency: CURRENCY_CODES.map(itself),
  device_type: DEVICE_TYPES.map(itself),
  status: CONVERSION_STATUSES.map(itself),
  click_status: CLICK_STATUSES.map(itself),
  status_reason: CLICK_REASONS.map(itself),
  link_type: LINK_TYPES.map(itself),
  method: CONVERSION_METHODS.map(itself),
  os: SYSTEMS.map(itself),
  browser: BROWSERS.map(itself),
};
/** User agents may name another system or browser, so a value that is not listed is looked up in the table before it is refused. */
export const OPEN_LISTS = ["os", "browser"] as const;

const BY_NAME: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(LISTS).map(([dimension, known]) => [dimension, byName(known)]),
);

/** The value that a name means, whatever its case; undefined for an unknown one. Every value of a dimension without a list is itself. */
export function closedValue(dimension: string, name: string): string | undefined {
  const known = BY_NAME.get(dimension);
  if (known === undefined) return name;
  return name === "" || name === NONE ? "" : known.get(name.trim().toLowerCase());
}

/** The nearest value of the list, for a refusal; undefined for a dimension without one. */
export function nearestValue(dimension: string, name: string): string | undefined {
  const known = LISTS[dimension] ?? [];
  const nearest = findNearest(
    name,
    known.flatMap(({ value, names }) => [...names, value]),
  );
  if (nearest === undefined) return undefined;
  const value = closedValue(dimension, nearest.name) ?? nearest.name;
  return value === nearest.name ? value : `${nearest.name} (${value})`;
}

function byName(known: readonly Known[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  // The first one wins, and a value wins over the name of another one.
  for (const { value, names } of known.toReversed())
    for (const name of names) values.set(name.toLowerCase(), value);
  for (const { value } of known.toReversed()) values.set(value.toLowerCase(), value);
  return values;
}

function itself(value: string): Known {
  return { value, names: [] };
}

function countries(): Known[] {
  const english = new Intl.DisplayNames("en", { type: "region" });
  return [...COUNTRY_CODES, ...MORE_COUNTRIES].map((value) => ({
    value,
    names: [english.of(value) ?? value, ...(COUNTRY_NAMES[value] ?? [])],
  }));
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}
