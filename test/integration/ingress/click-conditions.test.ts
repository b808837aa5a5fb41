import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIREFOX, IPHONE } from "../../samples/user-agents.ts";
import { type Answer, clickIdOf, lineOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  type Click,
  ClickPathsWorld,
  type Tenant,
} from "./click-paths-world.ts";

const FALLBACK = "https://own.example/refused";
const TARGET = "https://shop.example/there?a=b+c";

type Columns = Readonly<Record<string, unknown>>;
/** What makes a condition of 7.4 true for the second click of a visitor with {@link QUERY}. */
type Ingredient = {
  readonly offer?: Columns;
  /** A parameter; a later ingredient's joins it. */
  readonly query?: string;
  /** The partner on whom a template is forced. */
  readonly isForced?: true;
};

/** In the order of G143. The first is a matter of the workspace. */
const INGREDIENTS: readonly (readonly [reason: string, ingredient: Ingredient])[] = [
  ["workspace_inactive", {}],
  ["paused", { offer: { status: "paused" } }],
  ["not_approved", { offer: { visibility: "approval" } }],
  ["traffic_source", { isForced: true, query: "sub2=other" }],
  ["targeting", { offer: { targeting: { countries_allow: ["US"] } } }],
  ["cap", { offer: { caps: { clicks: { total: 0 } } } }],
  ["traffic_control", { query: "source_id=blocked" }],
  ["duplicate", { offer: { duplicate_click_seconds: 3_600 } }],
  ["bad_destination", { offer: { destination_url: "https://{sub1}/" } }],
];
const QUERY = "sub1=a%20b";
const REASONS = INGREDIENTS.map(([reason]) => reason);
/** Lines of the requirements that the reasons are of. */
const LINES: Readonly<Record<string, string>> = {
  workspace_inactive: "TRK-031",
  paused: "TRK-027",
  not_approved: "TRK-028",
  traffic_source: "TRK-032",
  targeting: "TRK-029",
  cap: "TRK-030",
  traffic_control: "TRK-036",
  duplicate: "TRK-035",
  bad_destination: "TRK-034",
};
const PAIRS = REASONS.flatMap((first, i) =>
  REASONS.slice(i).map((second) => [first, second] as const),
);

let world: ClickPathsWorld;
let main: Tenant;
let dead: Tenant;
let offers: ReadonlyMap<string, number>;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", { default_fallback_url: "https://ws.example/" });
  dead = await world.addTenant("dead", { status: "inactive" });
  for (const { id } of [main, dead]) {
    const forced = await world.addAffiliate(id, "FORCED");
    const template = {
      workspace_id: id,
      name: "T",
      params: { sub2: "news" },
      affiliate_ids: [forced],
    };
    await world.store.insert("traffic_source_template", template);
    const conditions = { source_ids: ["blocked"] };
    await world.store.insert("traffic_control", {
      workspace_id: id,
      name: "R",
      action: "block",
      conditions,
    });
  }
  const made = new Map<string, number>();
  for (const [first, second] of PAIRS)
    made.set(codeOf(first, second), await addPair(first, second));
  offers = made;
  await world.untilCurrent();
});
afterAll(() => world.close());

function ingredientOf(reason: string): Ingredient {
  return INGREDIENTS.find(([name]) => name === reason)?.[1] ?? {};
}

function tenantOf(first: string): Tenant {
  return first === "workspace_inactive" ? dead : main;
}

function codeOf(first: string, second: string): string {
  return `P${REASONS.indexOf(first)}X${REASONS.indexOf(second)}`;
}

async function addPair(first: string, second: string): Promise<number> {
  return await world.addOffer(tenantOf(first), codeOf(first, second), {
    fallback_url: FALLBACK,
    allowed_domains: ["shop.example"],
    ...ingredientOf(second).offer,
    ...ingredientOf(first).offer,
  });
}

/** Partner link and query of a click that meets both conditions. */
function linkOf(first: string, second: string): { offer: string; partner: string; query: string } {
  const both = [ingredientOf(first), ingredientOf(second)];
  const partner = both.some(({ isForced }) => isForced) ? "FORCED" : "PART01";
  const parts = new Set([QUERY, ...both.flatMap(({ query }) => query ?? [])]);
  return { offer: codeOf(first, second), partner, query: [...parts].join("&") };
}

/** Keys of an inactive workspace are refused: its clicks are looked for where they are stored. */
async function recordOf(answer: Answer, tenant: Tenant): Promise<Click> {
  if (tenant !== dead) return await world.clickOf(answer, tenant);
  const [row] = await world.stored(`click_id = unhex('${clickIdOf(answer)}')`);
  if (row === undefined) throw new Error("no row");
  return row;
}

describe("of two conditions the earlier one is recorded (G143)", () => {
  const named = PAIRS.map(([first, second]) => [LINES[first], first, second] as const);
  test.each(named)("%s %s, and %s", async (_line, first, second) => {
    const { offer, partner, query } = linkOf(first, second);
    const link = `/r/${offer}/${partner}?${query}`;
    // Makes the visitor one who has been there: none of the conditions stops a url=.
    expect(lineOf(await world.ask(`${link}&url=${TARGET}`))).toBe(`302 ${TARGET}`);
    const answer = await world.ask(link);
    expect(lineOf(answer)).toBe(`302 ${FALLBACK}`);
    expect(await recordOf(answer, tenantOf(first))).toMatchObject({
      status: "fallback",
      status_reason: first,
      destination: FALLBACK,
      offer_id: offers.get(offer),
    });
  });
});

describe("with url= a condition is recorded, and changes nothing else (TRK-009, T14)", () => {
  const single = REASONS.filter((reason) => reason !== "bad_destination");

  beforeAll(async () => {
    for (const reason of single) {
      const { offer } = linkOf(reason, reason);
      await world.addSmartLink(tenantOf(reason), `S${offer}`, {
        mode: "waterfall",
        rules: [
          { name: "one", conditions: {}, offers: [{ offer_id: offers.get(offer), weight: 1 }] },
        ],
      });
    }
    await world.untilCurrent();
  });

  test.each(single)("%s", async (reason) => {
    const { offer, partner, query } = linkOf(reason, reason);
    const paths: [string, string][] = [
      [`/r/${offer}/${partner}?`, "affiliate"],
      [`/click?oid=${offer}&aid=${partner}&`, "affiliate"],
      [`/c/${offer}-${partner}?`, "transparent"],
      [`/s/S${offer}-${partner}?`, "smart"],
    ];
    // Sent there once, so that each of the four is a second click.
    await world.ask(`/r/${offer}/${partner}?${query}&url=${TARGET}`);
    const rows = paths.map(async ([path, linkType]) => {
      const answer = await world.ask(`${path}${query}&url=${TARGET}`);
      expect(lineOf(answer), path).toBe(`302 ${TARGET}`);
      // 7.4: only partner links are held to a forced source. A smart link without an offer for the click has none.
      const isFine = reason === "traffic_source" && linkType !== "affiliate";
      const offerId = linkType === "smart" && !isFine ? 0 : offers.get(offer);
      expect(await recordOf(answer, tenantOf(reason)), path).toMatchObject({
        status: "redirect",
        status_reason: isFine ? "" : reason,
        link_type: linkType,
        destination: TARGET,
        offer_id: offerId,
      });
    });
    await Promise.all(rows);
  });
});

describe("every way to be paused or not approved (TRK-027, TRK-028)", () => {
  const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();
  const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
  /** ISO days, all but today and its neighbours in any zone. */
  const otherDays = [2, 3, 4, 5].map((ahead) => ((new Date().getUTCDay() + 6 + ahead) % 7) + 1);
  const schedule = (rule: object): Columns => ({ targeting: { schedule: rule } });

  const ways: readonly (readonly [
    reason: string,
    why: string,
    offer: Columns,
    access?: Columns,
  ])[] = [
    ["paused", "before its start", schedule({ starts_at: TOMORROW })],
    ["paused", "after its end", schedule({ ends_at: YESTERDAY })],
    ["paused", "on another day", schedule({ tz: "Asia/Tokyo", days: otherDays })],
    [
      "",
      "within its schedule",
      schedule({ starts_at: YESTERDAY, ends_at: TOMORROW, days: [1, 2, 3, 4, 5, 6, 7] }),
    ],
    ["not_approved", "private without access", { visibility: "private" }],
    ["not_approved", "access pending", { visibility: "approval" }, { status: "pending" }],
    ["not_approved", "access rejected", { visibility: "approval" }, { status: "rejected" }],
    ["not_approved", "rejected on a public offer", {}, { status: "rejected" }],
    ["", "access approved", { visibility: "private" }, { status: "approved" }],
    ["not_approved", "terms not accepted", { terms: "No spam" }, { status: "approved" }],
    [
      "",
      "terms accepted",
      { terms: "No spam" },
      { status: "approved", terms_accepted_at: YESTERDAY },
    ],
  ];
  const codeOfWay = (why: string): string => why.replaceAll(/[^a-z]/g, "");
  const inactive = ["paused", "inactive"];
  const notActive = ["pending", "blocked", "rejected"];

  beforeAll(async () => {
    for (const [, why, columns, access] of ways) {
      const id = await world.addOffer(main, codeOfWay(why), { ...columns, fallback_url: FALLBACK });
      if (access !== undefined) await addAccess(id, access);
    }
    for (const status of inactive) {
      const advertiser_id = await world.addAdvertiser(main.id, `token-${status}`, { status });
      await world.addOffer(main, `ADV${status}`, { advertiser_id });
    }
    for (const status of notActive) await world.addAffiliate(main.id, `AF${status}`, { status });
    await world.addOffer(main, "ANY");
    await world.untilCurrent();
  });

  async function addAccess(offerId: number, columns: Columns): Promise<void> {
    const given = { offer_id: offerId, affiliate_id: main.affiliateId, ...columns };
    const [names, values] = [Object.keys(given), Object.values(given)];
    const places = names.map((_, i) => `$${i + 1}`).join();
    await world.store.change(
      `insert into offer_access (${names.join()}) values (${places})`,
      values,
    );
  }

  test.each(ways.map(([reason, why]) => [reason, why]))("%s: %s", async (reason, why = "") => {
    const [line, click] = await world.follow(`/r/${codeOfWay(why)}/PART01`, main);
    expect(line).toBe(reason === "" ? "302 https://shop.example/" : `302 ${FALLBACK}`);
    expect(click["status_reason"]).toBe(reason);
  });

  test.each(inactive)("paused: the advertiser is %s", async (status) => {
    const [line, click] = await world.follow(`/r/ADV${status}/PART01`, main);
    expect([line, click["status_reason"]]).toEqual(["302 https://ws.example/", "paused"]);
  });

  test.each(notActive)("not_approved: the partner is %s", async (status) => {
    const [line, click] = await world.follow(`/r/ANY/AF${status}`, main);
    expect([line, click["status_reason"]]).toEqual(["302 https://ws.example/", "not_approved"]);
  });
});

describe("targeting (TRK-029, G41)", () => {
  const american: Asking = { ip: AMERICAN_IP };
  const iphone: Asking = { userAgent: IPHONE };
  const speaking = (language: string): Asking => ({ headers: { "accept-language": language } });
  const proxied: Asking = { headers: { via: "1.1 squid" } };
  const nowhere: Asking = { ip: "10.1.2.3" };

  const rows: readonly (readonly [targeting: Columns, fitting: Asking, missing: Asking])[] = [
    [{ countries_allow: ["us"] }, american, {}],
    [{ countries_allow: ["US", "DE"] }, {}, nowhere],
    [{ countries_deny: ["DE"] }, american, {}],
    [{ countries_deny: ["DE"] }, nowhere, {}],
    [{ regions_allow: ["BAVARIA"] }, {}, american],
    [{ cities_allow: ["Bamberg"] }, {}, american],
    [{ devices_allow: ["mobile", "tablet"] }, iphone, {}],
    [{ devices_deny: ["desktop"] }, iphone, {}],
    [{ os_allow: ["ios"] }, iphone, {}],
    [{ os_deny: ["iOS"] }, {}, iphone],
    [{ browsers_allow: ["Firefox"] }, {}, iphone],
    [{ browsers_deny: ["safari"] }, {}, iphone],
    [{ languages_allow: ["de"] }, speaking("de-AT,en;q=0.5"), speaking("en,de;q=0.9")],
    [{ languages_allow: ["en-GB"] }, speaking("en-gb"), speaking("en-US")],
    [{ connection: "no_proxy" }, {}, proxied],
    [{ countries_allow: ["DE"], devices_allow: ["desktop"] }, {}, iphone],
  ];

  beforeAll(async () => {
    for (const [i, [targeting]] of rows.entries())
      await world.addOffer(main, `TARGET${i}`, { targeting, fallback_url: FALLBACK });
    const everybody = { connection: "any", countries_allow: [], schedule: {} };
    await world.addOffer(main, "EVERYBODY", { targeting: everybody });
    await world.untilCurrent();
  });

  test.each(rows.map((row, i) => [JSON.stringify(row[0]), `/r/TARGET${i}/PART01`, row] as const))(
    "%s",
    async (_name, link, [, fitting, missing]) => {
      const [fits, good] = await world.follow(link, main, fitting);
      expect([fits, good["status_reason"]]).toEqual(["302 https://shop.example/", ""]);
      const [misses, bad] = await world.follow(link, main, missing);
      expect([misses, bad["status_reason"]]).toEqual([`302 ${FALLBACK}`, "targeting"]);
    },
  );

  test.each([american, iphone, proxied, nowhere, { userAgent: "" }])(
    "without any list everybody fits: %j",
    async (asking) => {
      const [line] = await world.follow("/r/EVERYBODY/PART01", main, asking);
      expect(line).toBe("302 https://shop.example/");
    },
  );
});

describe("destinations that are invalid after expansion (TRK-034)", () => {
  const destinations: readonly (readonly [url: string, values: readonly string[]])[] = [
    [
      "https://{sub1}/",
      [
        ...[
          "a%20b",
          "",
          "127.0.0.1",
          "0x7f000001",
          "localhost",
          "printer.local",
          "a..b",
          "u@x.example",
        ],
        ...["u:p", "a%2Fb", "a%5Cb", "[::1]", "intranet"],
      ],
    ],
    ["https://{sub1}.shop.example/", ["a%20b", "", "-", "a_b"]],
    ["https://shop.example:{sub1}/", ["x", "0", "99999"]],
    ["{sub1}", ["https://shop.example/"]],
    ["ftp://shop.example/", ["x"]],
  ];

  beforeAll(async () => {
    for (const [i, [destination_url]] of destinations.entries())
      await world.addOffer(main, `BAD${i}`, { destination_url, fallback_url: FALLBACK });
    await world.untilCurrent();
  });

  test.each(
    destinations.flatMap(([url, values], i) => values.map((value) => [url, value, i] as const)),
  )("bad_destination: %s with %j", async (_url, value, i) => {
    const [line, click] = await world.follow(`/r/BAD${i}/PART01?sub1=${value}`, main);
    expect([line, click["status"], click["status_reason"]]).toEqual([
      ...[`302 ${FALLBACK}`, "fallback", "bad_destination"],
    ]);
  });

  test.each([FIREFOX, "", "curl/8.5.0", `${FIREFOX} HeadlessChrome/126`])(
    "a host that the visitor completes to a good one is gone to, by %j too (T59)",
    async (userAgent) => {
      const [line] = await world.follow("/r/BAD1/PART01?sub1=de", main, { userAgent });
      expect(line).toBe("302 https://de.shop.example/");
    },
  );
});
