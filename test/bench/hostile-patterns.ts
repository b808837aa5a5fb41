/** One request as it is sent, and how many of them share a connection. */
export type Pattern = {
  readonly name: string;
  /** What its requests are compared with. */
  readonly baseline: "clicks" | "reports";
  /** Path and headers of the nth request. */
  readonly request: (n: number) => PatternRequest;
  /** Whether each request is a click that has to be in ClickHouse afterwards. */
  readonly isStored: boolean;
  /** Its cost is compared by the byte: it asks for more bytes to be read, kept and stored. */
  readonly isByByte?: boolean;
};

export type PatternRequest = {
  readonly path: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly referrer: string;
  readonly host?: string;
};

/** What the catalog of {@link hostileCatalog} has. */
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
/** As long as a click record may make it; less than a half of what the server takes as a head. */
const LONG_VALUE = "v".repeat(250);
const LONG_VALUES = 60;
const NOISE = "a&".repeat(12_000);

export type PatternOptions = {
  /** Ids of clicks that no report has named yet: each accepted report uses one. */
  readonly clickIds: () => string;
  /** Sub IDs of 250 bytes that each click also has, so that fewer clicks fill the writer's memory. At most 7. */
  readonly padding?: number;
};

export function hostilePatterns(
  catalog: HostileCatalog,
  { clickIds, padding = 0 }: PatternOptions,
): { readonly normal: Pattern; readonly reports: Pattern; readonly hostile: readonly Pattern[] } {
  const { offers, affiliates, linkKeys, duplicateOffer, token } = catalog;
  const pad = Array.from({ length: padding }, (_, i) => `&sub${i + 4}=${LONG_VALUE}`).join("");
  const link = (n: number): string => `/r/${of(offers, n)}/${of(affiliates, n * 7)}`;
  const usual = (n: number): PatternRequest => ({
    path: `${link(n)}?sub1=creative-${n % 40}&sub2=ref-${n}&source_id=placement-${n % 300}&gclid=EAIaIQobChMI${n}`,
    ip: addressOf(n),
    userAgent: userAgentOf(n),
    referrer: `https://www.example.org/articles/${n % 5_000}?page=2`,
  });
  const click = (
    name: string,
    change: (n: number) => Partial<PatternRequest>,
    rest: Partial<Pattern> = {},
  ): Pattern => ({
    ...{ name, baseline: "clicks", isStored: true },
    request: (n) => {
      const request = { ...usual(n), ...change(n) };
      return { ...request, path: request.path + pad };
    },
    ...rest,
  });
  const query = (n: number): string => `sub2=ref-${n}&source_id=a1&gclid=EAIaIQobChMI${n}`;
  const hot = `/r/${of(offers, 0)}/${of(affiliates, 0)}`;
  const visitor = { ip: addressOf(1), userAgent: userAgentOf(1) };
  const report = (n: number): PatternRequest => ({
    ...usual(n),
    path: `/pb?token=${token}&click_id=${clickIds()}&txid=order-${n}&amount=10`,
  });
  return {
    normal: click("normal mix", () => ({})),
    reports: { name: "accepted /pb", baseline: "reports", isStored: false, request: report },
    hostile: [
      click("equal gclid on one offer", (n) => ({
        path: `${hot}?sub2=ref-${n}&source_id=a1&gclid=abc123`,
      })),
      click("equal gclid on all offers", (n) => ({
        path: `${link(n)}?sub2=ref-${n}&source_id=a1&gclid=abc123`,
      })),
      click("one address", () => ({ ip: visitor.ip })),
      click("one visitor", () => visitor),
      click("one hot offer and link", (n) => ({ path: `${hot}?${query(n)}` })),
      click("one visitor of an offer with the duplicate rule", (n) => ({
        ...visitor,
        path: `/r/${duplicateOffer}/${of(affiliates, 0)}?${query(n)}`,
      })),
      click("new visitors of an offer with the duplicate rule", (n) => ({
        path: `/r/${duplicateOffer}/${of(affiliates, 0)}?${query(n)}`,
        userAgent: `${userAgentOf(n)} ${n % 10}`,
      })),
      click("one sub ID on all", (n) => ({ path: `${link(n)}?sub1=same&sub2=same&gclid=g${n}` })),
      click(`${linkKeys.length} links of one partner`, (n) => ({
        path: `/c/${of(linkKeys, n)}?${query(n)}&url=https%3A%2F%2Fshop.example.com%2F`,
      })),
      click("made-up hosts", (n) => ({ host: `h${n}.example` })),
      click("a new user agent each time", (n) => ({
        userAgent: `Mozilla/5.0 (Linux; Android 14; Model ${n * 7_919}) AppleWebKit/537.36 Chrome/126.0.${n}.0 Mobile Safari/537.36`,
      })),
      click(
        "long values in the query, by the byte",
        (n) => ({ path: `${link(n)}?${longQuery(n)}` }),
        { isByByte: true },
      ),
      click(
        "24 KB of noise in the query, by the byte",
        (n) => ({ path: `${link(n)}?${query(n)}&${NOISE}` }),
        { isByByte: true },
      ),
      click("unknown codes, refused", (n) => ({ path: `/r/NOBODY${n}/NOBODY?${query(n)}` }), {
        isStored: false,
      }),
      {
        ...{ name: "/pb with a wrong token, refused", baseline: "reports", isStored: false },
        request: (n) => ({ ...usual(n), path: `/pb?token=wrong${n}&txid=order-${n}&offer_id=1` }),
      },
    ],
  };
}

/** The request as HTTP/1.1 on a connection that stays open. `host` is that of the service. */
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
