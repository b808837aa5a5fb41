import { expect, test } from "vitest";
import { PIXEL } from "../../samples/user-agents.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { headerOf } from "./click-answer.ts";
import { AMERICAN_IP, type Asking, ClickPathsWorld } from "./click-paths-world.ts";

const WORKSPACE_FALLBACK = "https://ws.example/";
type Rule = readonly [offers: Readonly<Record<string, number>>, conditions?: object];
const ids = new Map<string, number>();
const links = new Map<string, number>();

function rule([offers, conditions = {}]: Rule): object {
  return {
    name: "rule",
    conditions,
    offers: Object.entries(offers).map(([code, weight]) => ({ offer_id: ids.get(code), weight })),
  };
}

type LinkColumns = { readonly isBound?: true; readonly status?: string };
const LINKS: readonly (readonly [
  code: string,
  mode: string,
  rules: readonly Rule[],
  columns?: LinkColumns,
])[] = [
  ["my-smart", "weighted", [[{ A: 1 }]]],
  ["bound", "weighted", [[{ A: 1 }]], { isBound: true }],
  ["asleep", "weighted", [[{ A: 1 }]], { status: "paused" }],
  ["weights", "weighted", [[{ A: 1, B: 3, C: 0, PAUSED: 1_000 }]]],
  [
    "rules",
    "weighted",
    [
      [{ A: 1 }, { countries_allow: ["US"] }],
      [{ PAUSED: 1 }, { countries_allow: ["DE"] }],
      [{ B: 1 }, { devices_allow: ["desktop"] }],
      [{ C: 1 }],
    ],
  ],
  ["fall", "waterfall", [[{ PAUSED: 9, US: 9, B: 0, C: 9 }]]],
  ["none", "weighted", [[{ PAUSED: 1 }]]],
  [
    "all-cap",
    "waterfall",
    [[{ PAUSED: 1 }, { countries_allow: ["US"] }], [{ FULL: 1, PAUSED: 1 }]],
  ],
];

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main", { default_fallback_url: WORKSPACE_FALLBACK });
const secondId = await world.addAffiliate(main.id, "PART02");
const offers: [string, object][] = [
  ["A", {}],
  ["B", {}],
  ["C", {}],
  ["PAUSED", { status: "paused" }],
  ["US", { targeting: { countries_allow: ["US"] } }],
  ["FULL", { caps: { clicks: { total: 0 } } }],
];
for (const [code, columns] of offers) {
  const destination_url = `https://${code.toLowerCase()}.example/`;
  const fallback_url = "https://own.example/";
  ids.set(code, await world.addOffer(main, code, { destination_url, fallback_url, ...columns }));
}
for (const [code, mode, rules, columns] of LINKS) {
  const affiliate_id = columns?.isBound === true ? secondId : null;
  const status = columns?.status ?? "active";
  links.set(
    code,
    await world.addSmartLink(main, code, { mode, affiliate_id, status, rules: rules.map(rule) }),
  );
}
await world.untilCurrent();

async function taken(target: string, asking: Asking = {}): Promise<unknown[]> {
  const [line, click] = await world.follow(target, main, asking);
  return [line, click["status"], click["status_reason"], click["offer_id"]];
}

test.each([
  ["/s/MY-smart-part02", "my-smart"],
  ["/s/my-smart?aid=PART02", "my-smart"],
  ["/s/bound", "bound"],
])("%s is a click of the partner by the smart link (TRK-004, G147)", async (target, code) => {
  const [line, click] = await world.follow(target, main);
  expect(line).toBe("302 https://a.example/");
  expect(click).toMatchObject({
    link_type: "smart",
    smart_link_id: links.get(code),
    affiliate_id: secondId,
    offer_id: ids.get("A"),
    status: "redirect",
    status_reason: "",
  });
});

test("weights are shares of the eligible offers (G147)", async () => {
  const counts = new Map<string, number>();
  await Promise.all(
    Array.from({ length: 400 }, async () => {
      const { hostname } = new URL(headerOf(await world.ask("/s/weights-PART01"), "location"));
      counts.set(hostname, (counts.get(hostname) ?? 0) + 1);
    }),
  );
  expect([...counts.keys()].sort()).toEqual(["a.example", "b.example"]);
  // 300 are expected; the bounds are six standard deviations away.
  expect(counts.get("b.example")).toBeGreaterThan(248);
  expect(counts.get("b.example")).toBeLessThan(352);
});

test.each<[target: string, asking: Asking, code: string]>([
  ["/s/rules-PART01", { ip: AMERICAN_IP }, "A"],
  ["/s/rules-PART01", {}, "B"],
  ["/s/rules-PART01", { userAgent: PIXEL }, "C"],
  ["/s/fall-PART01", {}, "B"],
  ["/s/fall-PART01", { ip: AMERICAN_IP }, "US"],
])(
  "the first matching rule with an eligible offer decides: %s, %j, offer %s (G147)",
  async (target, asking, code) => {
    const location = `302 https://${code.toLowerCase()}.example/`;
    expect(await taken(target, asking)).toEqual([location, "redirect", "", ids.get(code)]);
  },
);

test.each([
  ["none", "no_match", "TRK-033"],
  ["all-cap", "cap", "TRK-038"],
  ["asleep", "paused", "TRK-027"],
])("%s leads to the workspace's fallback: %s, without an offer (%s)", async (code, reason) => {
  expect(await taken(`/s/${code}-PART01`)).toEqual([
    `302 ${WORKSPACE_FALLBACK}`,
    "fallback",
    reason,
    0,
  ]);
});

test("with url= any host of its offers is allowed, and the choice is recorded (TRK-009, TRK-022)", async () => {
  expect(await taken("/s/fall-PART01?url=https://c.example/x")).toEqual([
    "302 https://c.example/x",
    "redirect",
    "",
    ids.get("B"),
  ]);
  const refused = await world.ask("/s/bound?url=https://c.example/x");
  expect([refused.status, refused.body]).toEqual([403, '{"error":"not_allowed"}']);
});
