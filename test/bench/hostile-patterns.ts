/** Requests of one kind, and how to judge their cost. */
export type Pattern = {
  readonly name: string;
  /** The cost that its requests are compared with. */
  readonly baseline: "clicks" | "reports" | "lookups";
  /** Path and headers of the nth request. */
  readonly request: (n: number) => PatternRequest;
  /** Whether each request is a click that must be in ClickHouse afterwards. */
  readonly isStored: boolean;
  /** Whether to compare its cost per byte, because its requests have more bytes to read, keep and store. */
  readonly isByByte?: boolean;
};

export type PatternRequest = {
  readonly path: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly referrer: string;
  readonly host?: string;
};

/** The part of the catalog of {@link hostileCatalog} that patterns use. */
export type HostileCatalog = {
  readonly offers: readonly string[];
  readonly affiliates: readonly string[];
  /** Keys of one partner. */
  readonly linkKeys: readonly string[];
  readonly duplicateOffer: string;
  readonly token: string;
};

const USER_AGENTS = 50;
const ADDRESSES = 20_000;
/** 60 values of the greatest length that a click record keeps; less than half of the request head that the server accepts. */
const LONG_VALUE = "v".repeat(250);
const LONG_VALUES = 60;
/** The ad ID of clicks that share one. */
export const HOT_AD_ID = "abc123";
/** Clicks of the first run of the normal mix, each with a different ad ID. */
const RARE_AD_IDS = 10_000;
const NOISE = "a&".repeat(12_000);

export type PatternOptions = {
  /** The ID of a click without a report. Each accepted report uses one. */
  readonly clickIds: () => string;
  /** Sub IDs of 250 bytes to add to each click, so that fewer clicks fill the writer's memory. At most 7. */
  readonly padding?: number;
};

type MakeClicks = (
  name: string,
  change: (n: number) => Partial<PatternRequest>,
  rest?: Partial<Pattern>,
) => Pattern;

export type HostilePatterns = {
  readonly normal: Pattern;
  /** The baseline of patterns of reports. */
  readonly reports: Pattern;
  /** The baseline of look-ups by an ad ID. */
  readonly lookups: Pattern;
  readonly hostile: readonly Pattern[];
};

export function hostilePatterns(
  catalog: HostileCatalog,
  { clickIds, padding = 0 }: PatternOptions,
): HostilePatterns {
  const pad = Array.from({ length: padding }, (_, i) => `&sub${i + 4}=${LONG_VALUE}`).join("");
  const usual = (n: number): PatternRequest => ({
    path: `${linkOf(catalog, n)}?sub1=creative-${n % 40}&sub2=ref-${n}&source_id=placement-${n % 300}&gclid=EAIaIQobChMI${n}`,
    ip: addressOf(n),
    userAgent: userAgentOf(n),
    referrer: `https://www.example.org/articles/${n % 5_000}?page=2`,
  });
  const clicks: MakeClicks = (name, change, rest = {}) => ({
    name,
    baseline: "clicks",
    isStored: true,
    request: (n) => {
      const request = { ...usual(n), ...change(n) };
      return { ...request, path: request.path + pad };
    },
    ...rest,
  });
  const reports = (name: string, pathOf: (n: number) => string): Pattern => ({
    name,
    baseline: "reports",
    isStored: false,
    request: (n) => ({ ...usual(n), path: pathOf(n) }),
  });
  // A test report is judged but not recorded, so any number of reports can name one click.
  const lookups = (name: string, adIdOf: (n: number) => string): Pattern => ({
    name,
    baseline: "lookups",
    isStored: false,
    request: (n) => ({
      ...usual(n),
      path: `/pb?token=${catalog.token}&gclid=${adIdOf(n)}&txid=order-${n}&test=1`,
    }),
  });
  return {
    normal: clicks("normal mix", () => ({})),
    reports: reports(
      "accepted /pb",
      (n) => `/pb?token=${catalog.token}&click_id=${clickIds()}&txid=order-${n}&amount=10`,
    ),
    lookups: lookups("look-up of an ad ID", (n) => `EAIaIQobChMI${n % RARE_AD_IDS}`),
    hostile: [
      ...equalClicks(catalog, clicks),
      ...floods(catalog, clicks),
      reports(
        "/pb with a wrong token, refused",
        (n) => `/pb?token=wrong${n}&txid=order-${n}&offer_id=1`,
      ),
      lookups("look-up of a hot ad ID", () => HOT_AD_ID),
    ],
  };
}

/** Clicks that have much in common. */
function equalClicks(catalog: HostileCatalog, clicks: MakeClicks): Pattern[] {
  const { linkKeys } = catalog;
  const hot = linkOf(catalog, 0);
  const twice = `/r/${catalog.duplicateOffer}/${of(catalog.affiliates, 0)}`;
  const visitor = { ip: addressOf(1), userAgent: userAgentOf(1) };
  const same = (n: number): string => `sub2=ref-${n}&source_id=a1&gclid=${HOT_AD_ID}`;
  return [
    clicks("equal gclid on one offer", (n) => ({ path: `${hot}?${same(n)}` })),
    clicks("equal gclid on all offers", (n) => ({ path: `${linkOf(catalog, n)}?${same(n)}` })),
    clicks("one address", () => ({ ip: visitor.ip })),
    clicks("one visitor", () => visitor),
    clicks("one hot offer and link", (n) => ({ path: `${hot}?${queryOf(n)}` })),
    clicks("one visitor of an offer with the duplicate rule", (n) => ({
      ...visitor,
      path: `${twice}?${queryOf(n)}`,
    })),
    clicks("new visitors of an offer with the duplicate rule", (n) => ({
      path: `${twice}?${queryOf(n)}`,
      userAgent: `${userAgentOf(n)} ${n % 10}`,
    })),
    clicks("one sub ID on all", (n) => ({
      path: `${linkOf(catalog, n)}?sub1=same&sub2=same&gclid=g${n}`,
    })),
    clicks(`${linkKeys.length} links of one partner`, (n) => ({
      path: `/c/${of(linkKeys, n)}?${queryOf(n)}&url=https%3A%2F%2Fshop.example.com%2F`,
    })),
  ];
}

/** Clicks that ask for more work than others, or for something that does not exist. */
function floods(catalog: HostileCatalog, clicks: MakeClicks): Pattern[] {
  return [
    clicks("made-up hosts", (n) => ({ host: `h${n}.example` })),
    clicks("a new user agent each time", (n) => ({
      userAgent: `Mozilla/5.0 (Linux; Android 14; Model ${n * 7_919}) AppleWebKit/537.36 Chrome/126.0.${n}.0 Mobile Safari/537.36`,
    })),
    clicks(
      "long values in the query, by the byte",
      (n) => ({ path: `${linkOf(catalog, n)}?${longQuery(n)}` }),
      { isByByte: true },
    ),
    clicks(
      "24 KB of noise in the query, by the byte",
      (n) => ({ path: `${linkOf(catalog, n)}?${queryOf(n)}&${NOISE}` }),
      { isByByte: true },
    ),
    clicks("unknown codes, refused", (n) => ({ path: `/r/NOBODY${n}/NOBODY?${queryOf(n)}` }), {
      isStored: false,
    }),
  ];
}

function linkOf({ offers, affiliates }: HostileCatalog, n: number): string {
  return `/r/${of(offers, n)}/${of(affiliates, n * 7)}`;
}

function queryOf(n: number): string {
  return `sub2=ref-${n}&source_id=a1&gclid=EAIaIQobChMI${n}`;
}

/** The request as HTTP/1.1 on a connection that stays open. `host` is the host of the service. */
export function httpRequest(request: PatternRequest, host: string): string {
  return (
    `GET ${request.path} HTTP/1.1\r\nHost: ${request.host ?? host}\r\nUser-Agent: ${request.userAgent}\r\n` +
    `X-Forwarded-For: ${request.ip}\r\nReferer: ${request.referrer}\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n`
  );
}

function longQuery(n: number): string {
  return Array.from({ length: LONG_VALUES }, (_, i) => `p${i}=${LONG_VALUE}${n}`).join("&");
}

function of(list: readonly string[], n: number): string {
  return list[n % list.length] ?? "";
}

function addressOf(n: number): string {
  const mixed = Math.imul(n % ADDRESSES, 2_654_435_761) >>> 0;
  return `${1 + (mixed % 222)}.${(mixed >>> 8) % 256}.${(mixed >>> 16) % 256}.${mixed >>> 24}`;
}

function userAgentOf(n: number): string {
  const version = 80 + (n % USER_AGENTS);
  return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
}
