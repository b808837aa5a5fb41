import { createHash } from "node:crypto";
import { type Amount, amountOf, percentOf } from "../../schemas/money/amount.ts";
import type { LogLine } from "./log-lines.ts";
import type { World, WorldOffer, WorldPartner, WorldSmartLink } from "./world.ts";

/** What a visit requests. */
export type Target =
  | {
      readonly kind: "link";
      /** `path` /r/…, `query` /click?…, `key` /c/…, `server` /clk. */
      readonly form: "path" | "query" | "key" | "server";
      readonly offer: WorldOffer;
      /** Only for `/c/`: a custom link key. */
      readonly key?: string;
      readonly url?: TargetUrl;
    }
  | { readonly kind: "smart"; readonly link: WorldSmartLink; readonly form: "path" | "query" }
  | { readonly kind: "impression"; readonly offer: WorldOffer }
  /** An unknown link, which still redirects to an allowed `url=` (G140). */
  | { readonly kind: "unknown"; readonly url?: TargetUrl };

/** A `url=`, and the code with which it is refused (G137); "" if it is allowed. */
export type TargetUrl = { readonly text: string; readonly refusal: string };

/** The plan for one log line: one request, and a conversion for a share of the clicks that reach an offer. */
export type PlannedVisit = {
  readonly line: LogLine;
  readonly partner: WorldPartner;
  readonly target: Target;
  readonly sub4: string;
  readonly converts: boolean;
  /** Sale amount of the conversion: decimal text with two places. */
  readonly saleAmount: string;
};

export type PlanOptions = {
  /** The same seed gives the same plan for the same world. */
  readonly seed: string;
  /** Share of the lines that convert, 0 to 1. */
  readonly share: number;
  /** Relative traffic of an offer. By default 1 for each. */
  readonly weightOf?: (offer: WorldOffer) => number;
};

const ALLOWED = ["https://deep.allowed.example/p?x=1&y=%C3%BC", "http://a.b.allowed.example:8080/"];
const REFUSED: readonly TargetUrl[] = [
  { text: "https://elsewhere.example/", refusal: "not_allowed" },
  // The entry `*.allowed.example` allows only hosts below it.
  { text: "https://allowed.example/", refusal: "not_allowed" },
  { text: "https://allowed.example.evil.example/", refusal: "not_allowed" },
  { text: "ftp://deep.allowed.example/", refusal: "scheme" },
  { text: "https://user:secret@deep.allowed.example/", refusal: "credentials" },
  { text: "https://93.184.216.34/", refusal: "ip_host" },
  { text: "https://localhost/", refusal: "local_host" },
  { text: "deep.allowed.example/page", refusal: "invalid" },
  { text: "", refusal: "empty" },
];

/** Numbers that depend only on the seed and the line. */
class Dice {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(seed: string, line: number) {
    this.#bytes = createHash("sha512").update(`${seed} ${line}`).digest();
  }

  /** From 0 to below 1. */
  roll(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4) / 2 ** 32;
  }

  oneOf<T>(list: readonly T[], weightOf: (one: T) => number = () => 1): T {
    let left = this.roll() * list.reduce((sum, one) => sum + weightOf(one), 0);
    for (const one of list) {
      left -= weightOf(one);
      if (left < 0) return one;
    }
    throw new Error("nothing to choose from: start the service on an empty DATA_DIR");
  }
}

/** Spreads the lines over everything in the world. A visitor always comes by the same partner. */
export function planVisits(
  world: World,
  lines: readonly LogLine[],
  options: PlanOptions,
): PlannedVisit[] {
  return lines.map((line) => {
    const dice = new Dice(options.seed, line.number);
    return {
      line,
      partner: new Dice(options.seed, ipNumber(line.ip)).oneOf(world.partners),
      target: chooseTarget(world, dice, options),
      sub4: dice.roll() < 0.3 ? "elsewhere" : "",
      converts: dice.roll() < options.share,
      saleAmount: (Math.floor(dice.roll() * 50_000) / 100).toFixed(2),
    };
  });
}

function ipNumber(ip: string): number {
  return createHash("sha256").update(ip).digest().readUInt32BE(0);
}

function chooseTarget(world: World, dice: Dice, { weightOf }: PlanOptions): Target {
  const kind = dice.roll();
  const offer = dice.oneOf(world.offers, weightOf);
  // A world without rules (`--plain`) sends every line to a plain link.
  if (world.smartLinks.length === 0 || kind < 0.46) return { kind: "link", form: "path", offer };
  if (kind < 0.54) return { kind: "link", form: "query", offer };
  if (kind < 0.6) return { kind: "link", form: "server", offer };
  if (kind < 0.65) return { kind: "link", form: "path", offer, url: chooseUrl(offer, dice) };
  if (kind < 0.75) return { kind: "link", form: "key", offer, url: chooseUrl(offer, dice) };
  if (kind < 0.77) return customKey(world, dice);
  if (kind < 0.92) {
    const form = dice.roll() < 0.7 ? "path" : "query";
    return { kind: "smart", link: dice.oneOf(world.smartLinks), form };
  }
  if (kind < 0.98) return { kind: "impression", offer };
  if (kind < 0.99) return { kind: "unknown" };
  // An unknown link has no offer, so only the list of the whole workspace decides.
  const urls = [...ALLOWED.map((text) => ({ text, refusal: "" })), ...REFUSED];
  return { kind: "unknown", url: dice.oneOf(urls) };
}

/** A link may redirect to its offer's own host, its partner's shops, and the hosts that the workspace allows. */
function chooseUrl(offer: WorldOffer, dice: Dice): TargetUrl {
  const own = new URL(offer.destination_url).host;
  const allowed = [
    ...ALLOWED,
    `https://${own}/product/7?ref=a+b`,
    `https://www.${own.replace("shop", "partner")}/`,
  ];
  if (dice.roll() < 0.7) return { text: dice.oneOf(allowed), refusal: "" };
  return dice.oneOf(REFUSED);
}

function customKey(world: World, dice: Dice): Target {
  const { key, offerId } = dice.oneOf(world.linkKeys);
  const offer = world.offers.find(({ id }) => id === offerId);
  if (offer === undefined) throw new Error(`key ${key} has no offer`);
  return { kind: "link", form: "key", offer, key, url: chooseUrl(offer, dice) };
}

/** The payout and revenue of a conversion by the contract, in ten-thousandths of the offer's currency. */
export function expectedMoney(
  offer: WorldOffer,
  saleAmount: string,
): { payout: Amount; revenue: Amount } {
  const sale = amountOf(saleAmount);
  const terms = {
    cpa: fixed,
    cps: percentOf,
    cpc: nothing,
    rpa: fixed,
    rps: percentOf,
    rpc: nothing,
  };
  return {
    payout: terms[offer.payout_type](sale, amountOf(offer.payout)),
    revenue: terms[offer.revenue_type](sale, amountOf(offer.revenue)),
  };
}

function fixed(_sale: Amount, rate: Amount): Amount {
  return rate;
}

/** The offer pays per click, so its conversions pay 0 (G43). */
function nothing(): Amount {
  return 0n;
}
