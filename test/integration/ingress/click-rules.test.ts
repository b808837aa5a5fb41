import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIREFOX } from "../../samples/user-agents.ts";
import { until } from "../../system/until.ts";
import { clickIdOf, lineOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  ClickPathsWorld,
  GERMAN_IP,
  type Tenant,
} from "./click-paths-world.ts";

const SHOP = "https://shop.example/";
const FALLBACK = "https://own.example/refused";
const NEXT = "https://next.example/?o={offer_code}&c={click_id}";
/** Design 4: how late ingress may learn of a cap. */
const CAP_KNOWN_MS = 2_000;

let world: ClickPathsWorld;
let main: Tenant;
let nextId = 0;
let secondId = 0;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", { default_fallback_url: "https://ws.example/" });
  nextId = await world.addOffer(main, "NEXT", { destination_url: NEXT });
  secondId = await world.addAffiliate(main.id, "PART02");
});
afterAll(() => world.close());

async function addOffer(
  code: string,
  columns: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  return await world.addOffer(main, code, { fallback_url: FALLBACK, ...columns });
}

/** Where a partner link leads, and what its click says. */
async function reasonOf(target: string, asking: Asking = {}): Promise<string> {
  const [line, click] = await world.follow(target, main, asking);
  return `${String(click["status_reason"])}: ${line}`;
}

const fine = `: 302 ${SHOP}`;
const refused = (reason: string): string => `${reason}: 302 ${FALLBACK}`;

describe("a forced traffic-source template (TRK-032, G181)", () => {
  beforeAll(async () => {
    const forced = await world.addAffiliate(main.id, "FORCED");
    await world.store.insert("traffic_source_template", {
      workspace_id: main.id,
      name: "News",
      traffic_source: "news",
      source_id: "s1",
      params: { sub1: "letter", sub2: "{keyword}", sub3: "" },
      affiliate_ids: [forced],
    });
    await addOffer("FORCE");
    await world.untilCurrent();
  });

  test.each([
    ["", true],
    ["sub1=letter&sub2=anything&sub3=free&source_id=s1", true],
    ["s1=letter&src=s1&foo=bar", true],
    ["sub1=", true],
    ["sub1=other", false],
    ["sub1=LETTER", false],
    ["aff_sub=other", false],
    ["sub1=letter&source_id=s2", false],
    ["source=s2", false],
  ])("?%s: fits %s", async (query, fits) => {
    const expected = fits ? fine : refused("traffic_source");
    expect(await reasonOf(`/r/FORCE/FORCED?${query}`)).toBe(expected);
    expect(await reasonOf(`/click?oid=FORCE&aid=FORCED&${query}`)).toBe(expected);
    expect(await reasonOf(`/r/FORCE/PART02?${query}`)).toBe(fine);
  });
});

describe("traffic controls (TRK-036, G146)", () => {
  const QUERY = "source_id=bad&sub2=y";
  const rows: readonly (readonly [name: string, conditions: () => object, isMet: boolean])[] = [
    ["partner", () => ({ affiliate_ids: [main.affiliateId] }), true],
    ["otherpartner", () => ({ affiliate_ids: [secondId] }), false],
    ["source", () => ({ source_ids: ["good", "bad"] }), true],
    ["othersource", () => ({ source_ids: ["good"] }), false],
    ["sub", () => ({ sub: { sub2: ["x", "y"] } }), true],
    ["othersub", () => ({ sub: { sub2: ["x"] } }), false],
    ["absentsub", () => ({ sub: { sub3: ["x"] } }), false],
    ["country", () => ({ countries: ["de"] }), true],
    ["othercountry", () => ({ countries: ["US"] }), false],
    ["address", () => ({ ip_ranges: ["91.64.0.0/16"] }), true],
    ["oneaddress", () => ({ ip_ranges: [GERMAN_IP] }), true],
    ["otheraddress", () => ({ ip_ranges: ["91.65.0.0/16", "2003::/16"] }), false],
    ["useragent", () => ({ user_agent_contains: ["FIREFOX/127"] }), true],
    ["otheruseragent", () => ({ user_agent_contains: ["curl"] }), false],
    ["both", () => ({ countries: ["DE"], source_ids: ["bad"] }), true],
    ["oneoftwo", () => ({ countries: ["US"], source_ids: ["bad"] }), false],
    ["everybody", () => ({}), true],
  ];

  beforeAll(async () => {
    const control = async (
      offer: number,
      columns: Readonly<Record<string, unknown>>,
      conditions: object = {},
    ): Promise<void> => {
      await world.store.insert("traffic_control", {
        workspace_id: main.id,
        name: "R",
        action: "block",
        ...columns,
        conditions: { offer_ids: [offer], ...conditions },
      });
    };
    for (const [name, conditions] of rows)
      await control(await addOffer(`C${name}`), {}, conditions());
    await control(await addOffer("ASLEEP"), { status: "paused" });
    const forward = { action: "forward", forward_offer_id: nextId };
    await control(await addOffer("FORWARD", { allowed_domains: ["shop.example"] }), forward);
    const first = await addOffer("FIRST");
    await control(first, forward, { countries: ["DE"] });
    await control(first, {});
    const gone = await addOffer("GONE", { status: "paused" });
    await control(await addOffer("NOWHERE"), { action: "forward", forward_offer_id: gone });
    await world.untilCurrent();
  });

  test.each(rows)("traffic_control by %s", async (name, _conditions, isMet) => {
    expect(await reasonOf(`/r/C${name}/PART01?${QUERY}`)).toBe(
      isMet ? refused("traffic_control") : fine,
    );
  });

  test("a paused rule does nothing", async () => {
    expect(await reasonOf("/r/ASLEEP/PART01")).toBe(fine);
  });

  test("forwarded: the click is the other offer's, whose macros it gets", async () => {
    const answer = await world.ask("/r/FORWARD/PART01?sub1=x");
    const click = await world.clickOf(answer, main);
    const location = `https://next.example/?o=NEXT&c=${clickIdOf(answer)}`;
    expect(lineOf(answer)).toBe(`302 ${location}`);
    expect(click).toMatchObject({
      status: "redirect",
      status_reason: "forwarded",
      offer_id: nextId,
      sub1: "x",
      destination: location,
    });
    expect(await world.report(`click_id=${clickIdOf(answer)}&txid=f1`, main)).toMatchObject({
      ok: true,
      status: "approved",
    });
  });

  test("with url= the redirect and the offer stay as they are", async () => {
    const answer = await world.ask(`/r/FORWARD/PART01?url=${SHOP}x`);
    expect(lineOf(answer)).toBe(`302 ${SHOP}x`);
    const { offer_id, status, status_reason } = await world.clickOf(answer, main);
    expect([offer_id === nextId, status, status_reason]).toEqual([false, "redirect", "forwarded"]);
  });

  test("the oldest rule that is met decides; nobody is forwarded to an offer that is not for them", async () => {
    expect(await reasonOf("/r/FIRST/PART01")).toMatch(/^forwarded: 302 https:\/\/next\.example\//);
    expect(await reasonOf("/r/FIRST/PART01", { ip: AMERICAN_IP })).toBe(refused("traffic_control"));
    expect(await reasonOf("/r/NOWHERE/PART01")).toBe(refused("traffic_control"));
  });
});

describe("fail routes (TRK-036, G146)", () => {
  beforeAll(async () => {
    const paused = { status: "paused" };
    const closed = await addOffer("CLOSED", { ...paused, fail_route_offer_id: nextId });
    await addOffer("FAILS", { ...paused, fail_route_offer_id: nextId });
    await addOffer("FAILSTWICE", { ...paused, fail_route_offer_id: closed });
    await addOffer("FAILSFAR", {
      targeting: { countries_allow: ["US"] },
      fail_route_offer_id: nextId,
    });
    await addOffer("FAILSBAD", { destination_url: "https://{sub1}/", fail_route_offer_id: nextId });
    await addOffer("FAILSNOT", { fail_route_offer_id: nextId });
    await world.untilCurrent();
  });

  test.each(["FAILS", "FAILSFAR", "FAILSBAD"])(
    "fail_route: %s leads to the other offer, whose click it is",
    async (code) => {
      const answer = await world.ask(`/r/${code}/PART01?sub1=a%20b`);
      expect(lineOf(answer)).toBe(`302 https://next.example/?o=NEXT&c=${clickIdOf(answer)}`);
      expect(await world.clickOf(answer, main)).toMatchObject({
        status: "redirect",
        status_reason: "fail_route",
        offer_id: nextId,
      });
    },
  );

  test("one that is closed itself leaves the first reason, and none is taken without need", async () => {
    expect(await reasonOf("/r/FAILSTWICE/PART01")).toBe(refused("paused"));
    expect(await reasonOf("/r/FAILSNOT/PART01")).toBe(fine);
  });

  test("with url= it is not taken", async () => {
    const answer = await world.ask(`/r/FAILS/PART01?url=${SHOP}`);
    const { status_reason, offer_id } = await world.clickOf(answer, main);
    expect([lineOf(answer), status_reason, offer_id === nextId]).toEqual([
      `302 ${SHOP}`,
      "paused",
      false,
    ]);
  });
});

describe("duplicates (TRK-035, G145)", () => {
  beforeAll(async () => {
    for (const code of ["DUP1", "DUP2"]) await addOffer(code, { duplicate_click_seconds: 3_600 });
    await addOffer("BRIEF", { duplicate_click_seconds: 1 });
    await addOffer("OFF");
    await world.untilCurrent();
  });

  test("the same visitor on the same offer by the same partner, and nobody else", async () => {
    expect(await reasonOf("/r/DUP1/PART01")).toBe(fine);
    expect(await reasonOf("/r/DUP1/PART01")).toBe(refused("duplicate"));
    expect(await reasonOf("/click?oid=DUP1&aid=PART01")).toBe(refused("duplicate"));
    expect(await reasonOf("/r/DUP1/PART02")).toBe(fine);
    expect(await reasonOf("/r/DUP2/PART01")).toBe(fine);
    expect(await reasonOf("/r/DUP1/PART01", { ip: AMERICAN_IP })).toBe(fine);
    expect(await reasonOf("/r/DUP1/PART01", { userAgent: `${FIREFOX}.1` })).toBe(fine);
    expect([await reasonOf("/r/OFF/PART01"), await reasonOf("/r/OFF/PART01")]).toEqual([
      fine,
      fine,
    ]);
  });

  test("only within the time, which a duplicate does not prolong", async () => {
    const answer = await world.ask("/r/BRIEF/PART01");
    const first = Number.parseInt(clickIdOf(answer).slice(0, 12), 16);
    const times: [number, boolean][] = [];
    await until(
      "the visitor may pass again",
      async () => {
        const again = await world.ask("/r/BRIEF/PART01");
        const isPassed = lineOf(again) === `302 ${SHOP}`;
        times.push([Number.parseInt(clickIdOf(again).slice(0, 12), 16) - first, isPassed]);
        return isPassed;
      },
      { timeoutMs: 5_000, pollMs: 100 },
    );
    expect(times.length).toBeGreaterThan(3);
    for (const [ageMs, isPassed] of times) expect(isPassed, `${ageMs} ms`).toBe(ageMs >= 1_000);
  });
});

describe("caps (TRK-030, G39, G40)", () => {
  test("click caps: exactly as many get through; one that only alerts says so", async () => {
    await addOffer("CAP3", { caps: { clicks: { daily: 3, total: 100 } } });
    await addOffer("ALERT1", { caps: { clicks: { total: 1 }, alert_only: true } });
    await world.untilCurrent();
    const reasons: string[] = [];
    for (let i = 0; i < 5; i += 1) reasons.push(await reasonOf("/r/CAP3/PART01"));
    expect(reasons).toEqual([fine, fine, fine, refused("cap"), refused("cap")]);
    expect(await reasonOf("/r/ALERT1/PART01")).toBe(fine);
    expect(await reasonOf("/r/ALERT1/PART01")).toBe(`cap_over: 302 ${SHOP}`);
  });

  test.each<[string, object]>([
    ["conversions a day", { conversions: { daily: 1 } }],
    ["conversions an hour", { conversions: { hourly: 1 } }],
    ["payout", { payout: { total: "10.0000" } }],
    ["revenue a month", { revenue: { monthly: "15.0000" } }],
  ])("cap and cap_over by %s, as soon as ingress can know", async (name, caps) => {
    const code = name.replaceAll(" ", "");
    await addOffer(`${code}1`, { caps });
    await addOffer(`${code}2`, { caps: { ...caps, alert_only: true } });
    await world.untilCurrent();
    for (const [offer, after] of [
      [`${code}1`, refused("cap")],
      [`${code}2`, `cap_over: 302 ${SHOP}`],
    ] as const) {
      const answer = await world.ask(`/r/${offer}/PART01`);
      expect(lineOf(answer)).toBe(`302 ${SHOP}`);
      const outcome = await world.report(`click_id=${clickIdOf(answer)}`, main);
      expect(outcome).toMatchObject({ ok: true, status: "approved" });
      await until(after, async () => (await reasonOf(`/r/${offer}/PART01`)) === after, {
        timeoutMs: CAP_KNOWN_MS,
        pollMs: 20,
      });
    }
  });
});
