import { AD_CLICK_ID_LENGTH_MAX, VALUE_LENGTH_MAX } from "../../schemas/events/click-record.ts";
import { SUB_IDS } from "../../schemas/events/sub-ids.ts";
import { isNoValue, isUnreplacedName } from "../../schemas/names/no-value.ts";
import { quote, textField } from "../encode-record.ts";
import { decodeComponent } from "./decode.ts";

/** Parameters read from one request. After them only `url=` is looked for, and only where it is written without escapes. */
const PAIRS_MAX = 256;
/** Ends of pairs, also of empty pairs. */
const LOOKS_MAX = 4 * PAIRS_MAX;
/** Most characters that one encoded character of a value takes: three escapes. */
const ENCODED_MAX = 9;
const URL_NAME = "url=";
const AND_WRITTEN = "&amp;";
/** What is left before a name when `?` was doubled or `&` was written as `&amp;` in a page (G241). */
const COPIED_NAME = /^(?:amp;|\?)+/;
const EXTRA_PAIRS_MAX = 50;
const EXTRA_NAME_LENGTH_MAX = 64;

/** Where the value of a parameter is kept: a column of the click, or a part of the link's name. */
export const SLOTS = [
  ...SUB_IDS,
  "source_id",
  "gclid",
  "gbraid",
  "wbraid",
  "msclkid",
  "fbclid",
  "ttclid",
  "ext_campaign_id",
  "ext_adgroup_id",
  "ext_ad_id",
  "ext_keyword",
  "ext_placement",
  "ext_matchtype",
  "ext_network",
  "ext_device",
  "ext_device_model",
  "ext_target_id",
  "ext_loc_physical",
  "ext_loc_interest",
  "ext_feed_item_id",
  "ext_ad_position",
  "traffic_source",
  "offer",
  "affiliate",
  "token",
  "ip",
  "user_agent",
  "creative_id",
] as const;
export type Slot = (typeof SLOTS)[number];
export type SlotValues = Readonly<Record<Slot, string>>;

/** All names of each parameter; the first has priority (G119, G134, G135). */
type Names = Readonly<Partial<Record<Slot, readonly string[]>>>;

const TRACKED: Names = {
  ...subNames(),
  source_id: ["source_id", "source", "src"],
  gclid: ["gclid"],
  gbraid: ["gbraid"],
  wbraid: ["wbraid"],
  msclkid: ["msclkid"],
  fbclid: ["fbclid"],
  ttclid: ["ttclid"],
  ext_campaign_id: ["campaignid", "campaign_id"],
  ext_adgroup_id: ["adgroupid", "adgroup_id"],
  ext_ad_id: ["creative", "adid", "ad_id"],
  ext_keyword: ["keyword", "kw"],
  ext_placement: ["placement"],
  ext_matchtype: ["matchtype"],
  ext_network: ["network"],
  ext_device: ["device"],
  ext_device_model: ["devicemodel"],
  ext_target_id: ["targetid"],
  ext_loc_physical: ["loc_physical_ms"],
  ext_loc_interest: ["loc_interest_ms"],
  ext_feed_item_id: ["feeditemid"],
  ext_ad_position: ["adposition"],
  traffic_source: ["traffic_source", "ts", "utm_source"],
};

const OFFER_NAMES = ["oid", "offer", "offer_id"];
const AFFILIATE_NAMES = ["affid", "aid", "aff", "aff_id"];

/** One of the names of a slot. */
type Name = {
  readonly slot: Slot;
  readonly rank: number;
  readonly lengthMax: number;
  /** The text before the value in the JSON of the click; "" when the slot is not a column. */
  readonly prefix: string;
};

/** Which parameters a path knows; all others are extra. */
export type ParameterSet = {
  readonly slots: ReadonlyMap<string, Name>;
  /** Whether `url=` is the destination. Then it is kept as sent. */
  readonly hasUrl: boolean;
};

/** `/c` and `/r`. */
export const LINK_PARAMETERS = parameterSet({}, true);
/** `/click`. */
export const QUERY_LINK_PARAMETERS = parameterSet(
  { offer: OFFER_NAMES, affiliate: AFFILIATE_NAMES },
  true,
);
/** `/s`. */
export const SMART_LINK_PARAMETERS = parameterSet({ affiliate: AFFILIATE_NAMES }, true);
/** `/clk` (G156). */
export const SERVER_CLICK_PARAMETERS = parameterSet(
  {
    offer: OFFER_NAMES,
    affiliate: AFFILIATE_NAMES,
    token: ["token"],
    ip: ["ip"],
    user_agent: ["user_agent"],
  },
  false,
);
/** `/i` (G157). */
export const IMPRESSION_PARAMETERS = parameterSet({ creative_id: ["creative_id", "cid"] }, false);
/** The page URL of `/lp`. The body names the link. */
export const LANDING_PARAMETERS = parameterSet({}, false);

/** The parameters of one request. */
export class ClickParameters {
  readonly values: SlotValues;
  /** Every `url=` as sent, still percent-encoded; empty when there is none. */
  readonly urls: readonly string[];
  /** JSON object of the parameters without a column; "" when there are none. */
  readonly extra: string;
  /** The values with a column, as further fields of the click's JSON: `,"sub1":"a"`. */
  readonly fields: string;

  constructor(parts: {
    values: SlotValues;
    urls: readonly string[];
    extra: string;
    fields: string;
  }) {
    this.values = parts.values;
    this.urls = parts.urls;
    this.extra = parts.extra;
    this.fields = parts.fields;
  }
}

/** Reads parameters in the order in which they are added: the first value of a name wins. */
export class ParameterReader {
  readonly #set: ParameterSet;
  readonly #values: Record<Slot, string> = emptySlots();
  /** For each slot with a value, the first name that filled it. */
  readonly #filled: Name[] = [];
  /** Slots that were filled by an alias, and the rank of that alias. */
  #ranks: Map<Slot, number> | undefined;
  #urls: string[] | undefined;
  #extra: Map<string, string> | undefined;

  constructor(set: ParameterSet) {
    this.#set = set;
  }

  /** Adds a query or a form body, as sent. */
  addQuery(query: string): this {
    const { length } = query;
    let from = 0;
    let equals = -1;
    let looks = 0;
    for (let pairs = 0; from < length && pairs < PAIRS_MAX && looks < LOOKS_MAX; looks += 1) {
      const end = endOf(query, "&", from);
      if (end > from) {
        pairs += 1;
        // Searched once for each equals sign, not once for each pair: a query without any would be searched to its end each time.
        if (equals < from) equals = endOf(query, "=", from);
        this.#addPair(query, { from, nameEnd: Math.min(equals, end), end });
      }
      from = end + 1;
    }
    if (from < length && this.#set.hasUrl) this.#addUrls(query, from);
    return this;
  }

  /** Adds a value that needs no decoding. */
  add(name: string, value: string): this {
    const known = this.#set.slots.get(name);
    if (known === undefined) this.#addExtra(name, value);
    else this.#fill(known, value);
    return this;
  }

  read(): ClickParameters {
    const values = this.#values;
    let fields = "";
    for (const { prefix, slot } of this.#filled) {
      if (prefix !== "") fields += prefix + quote(values[slot]);
    }
    if (values.traffic_source === "") {
      values.traffic_source = sourceOfAdClick(values);
      fields += textField("traffic_source", values.traffic_source);
    }
    const urls = this.#urls ?? NO_URLS;
    return new ClickParameters({ values, urls, extra: this.#renderExtra(), fields });
  }

  #addPair(query: string, pair: Pair): void {
    const { from, nameEnd, end } = pair;
    const valueFrom = Math.min(nameEnd + 1, end);
    const nameMax = from + ENCODED_MAX * EXTRA_NAME_LENGTH_MAX;
    let name = decodeComponent(query.slice(from, Math.min(nameEnd, nameMax)));
    let known = this.#set.slots.get(name);
    if (known === undefined) {
      const plain = plainName(name);
      if (plain !== name) known = this.#set.slots.get(plain);
      name = plain;
    }
    if (name === "url" && this.#set.hasUrl) {
      (this.#urls ??= []).push(query.slice(valueFrom, end));
    } else if (name !== "") {
      // What would be cut off is not decoded.
      const valueMax = valueFrom + ENCODED_MAX * (known?.lengthMax ?? VALUE_LENGTH_MAX);
      const value = decodeComponent(query.slice(valueFrom, Math.min(end, valueMax)));
      if (known === undefined) this.#addExtra(name, value);
      else this.#fill(known, value);
    }
  }

  #fill(known: Name, value: string): void {
    const { slot, rank } = known;
    const isFilled = this.#values[slot] !== "";
    if (isFilled && rank >= (this.#ranks?.get(slot) ?? 0)) return;
    if (value === "" || isEmpty(value, known)) return;
    const kept = cut(value, known.lengthMax);
    this.#values[slot] = kept;
    if (!isFilled) this.#filled.push(known);
    if (rank > 0 || this.#ranks !== undefined) (this.#ranks ??= new Map()).set(slot, rank);
  }

  #addUrls(query: string, from: number): void {
    // The mark before the name is looked for by hand, so that the query is searched once.
    for (let at = query.indexOf(URL_NAME, from); at >= 0; ) {
      const valueFrom = at + URL_NAME.length;
      const isPair = query.charAt(at - 1) === "&" || query.startsWith(AND_WRITTEN, at - 5);
      const end = isPair ? endOf(query, "&", valueFrom) : valueFrom;
      if (isPair) (this.#urls ??= []).push(query.slice(valueFrom, end));
      at = query.indexOf(URL_NAME, end);
    }
  }

  #addExtra(name: string, value: string): void {
    const extra = (this.#extra ??= new Map<string, string>());
    const key = cut(name, EXTRA_NAME_LENGTH_MAX);
    if (extra.size >= EXTRA_PAIRS_MAX || extra.has(key)) return;
    extra.set(key, isNoValue(value) ? "" : cut(value, VALUE_LENGTH_MAX));
  }

  #renderExtra(): string {
    if (this.#extra === undefined) return "";
    // Written by hand, because an object would lose a parameter named __proto__.
    const pairs = Array.from(
      this.#extra,
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return `{${pairs.join(",")}}`;
  }
}

/** The position of a pair in its query. `nameEnd` is `end` for a name without a value. */
type Pair = { readonly from: number; readonly nameEnd: number; readonly end: number };

const NO_URLS: readonly string[] = [];

/** The name without what copying the link put before it. */
export function plainName(name: string): string {
  const first = name.charCodeAt(0);
  const isCopied = first === 0x3f || (first === 0x61 && name.startsWith("amp;"));
  return isCopied ? name.replace(COPIED_NAME, "") : name;
}

/** The next position of `mark`, or the end of the text. */
function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

/** The ad platform whose click ID the click carries, for a click that names no source (G135). */
function sourceOfAdClick(values: Readonly<Partial<Record<Slot, string>>>): string {
  if (values.gclid || values.gbraid || values.wbraid) return "google";
  if (values.msclkid) return "bing";
  if (values.fbclid) return "facebook";
  return values.ttclid ? "tiktok" : "";
}

/**
 * A tag that the ad platform did not replace, such as a literal `{gclid}`, is no value (G135, G216). A code of a record may be any word. A
 * keyword in square brackets is one of the platform's exact matches.
 */
function isEmpty(value: string, { slot, prefix }: Pick<Name, "slot" | "prefix">): boolean {
  if (prefix === "") return isUnreplacedName(value);
  return isNoValue(value) && !(slot === "ext_keyword" && EXACT_MATCH.test(value));
}

const EXACT_MATCH = /^\[[^[\]]+\]$/;

/** Cuts between characters, never within one. */
function cut(value: string, lengthMax: number): string {
  if (value.length <= lengthMax) return value;
  const last = value.charCodeAt(lengthMax - 1);
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? lengthMax - 1 : lengthMax);
}

function lengthMaxOf(slot: Slot): number {
  switch (slot) {
    case "gclid":
    case "gbraid":
    case "wbraid":
    case "msclkid":
    case "fbclid":
    case "ttclid":
      return AD_CLICK_ID_LENGTH_MAX;
    case "user_agent":
      return 4 * VALUE_LENGTH_MAX;
    default:
      return VALUE_LENGTH_MAX;
  }
}

function subNames(): Names {
  const names: Partial<Record<Slot, readonly string[]>> = {
    sub1: ["sub1", "s1", "aff_sub", "subid", "subid1", "sub_id1"],
  };
  for (let n = 2; n <= 10; n += 1) {
    const slot = SLOTS[n - 1];
    if (slot !== undefined) names[slot] = [slot, `s${n}`, `aff_sub${n}`, `subid${n}`, `sub_id${n}`];
  }
  return names;
}

function parameterSet(own: Names, hasUrl: boolean): ParameterSet {
  const slots = new Map<string, Name>();
  for (const names of [own, TRACKED]) {
    for (const slot of SLOTS) {
      for (const [rank, name] of (names[slot] ?? []).entries()) {
        if (slots.has(name)) continue;
        const prefix = slot in TRACKED ? `,"${slot}":` : "";
        slots.set(name, { slot, rank, lengthMax: lengthMaxOf(slot), prefix });
      }
    }
  }
  return { slots, hasUrl };
}

/** One literal, so that V8 gives all records one shape. */
function emptySlots(): Record<Slot, string> {
  return {
    sub1: "",
    sub2: "",
    sub3: "",
    sub4: "",
    sub5: "",
    sub6: "",
    sub7: "",
    sub8: "",
    sub9: "",
    sub10: "",
    source_id: "",
    gclid: "",
    gbraid: "",
    wbraid: "",
    msclkid: "",
    fbclid: "",
    ttclid: "",
    ext_campaign_id: "",
    ext_adgroup_id: "",
    ext_ad_id: "",
    ext_keyword: "",
    ext_placement: "",
    ext_matchtype: "",
    ext_network: "",
    ext_device: "",
    ext_device_model: "",
    ext_target_id: "",
    ext_loc_physical: "",
    ext_loc_interest: "",
    ext_feed_item_id: "",
    ext_ad_position: "",
    traffic_source: "",
    offer: "",
    affiliate: "",
    token: "",
    ip: "",
    user_agent: "",
    creative_id: "",
  };
}
