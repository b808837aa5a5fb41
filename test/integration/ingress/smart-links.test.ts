import { afterAll, beforeAll, expect, test } from "vitest";
import { PIXEL } from "../../samples/user-agents.ts";
import { AMERICAN_IP, type Asking, ClickPathsWorld, type Tenant } from "./click-paths-world.ts";

const WORKSPACE_FALLBACK = "https://ws.example/";
type Rule = readonly [
  offers: readonly (readonly [code: string, weight: number])[],
  conditions?: object,
];

let world: ClickPathsWorld;
let main: Tenant;
let secondId = 0;
const ids = new Map<string, number>();
const links = new Map<string, number>();

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", { default_fallback_url: WORKSPACE_FALLBACK });
  secondId = await world.addAffiliate(main.id, "PART02");
  const offers: [string, object][] = [
    ["A", {}],
    ["B", {}],
    ["C", {}],
    ["PAUSED", { status: "paused" }],
    ["PRIVATE", { visibility: "private" }],
    ["US", { targeting: { countries_allow: ["US"] } }],
    ["FULL", { caps: { clicks: { total: 0 } } }],
    ["OVER", { caps: { clicks: { total: 0 }, alert_only: true } }],
    ["BAD", { destination_url: "https://{sub1}/", fallback_url: "https://bad.example/" }],
  ];
  for (const [code, columns] of offers) {
    const destination_url = `https://${code.toLowerCase()}.example/`;
    ids.set(
      code,
      await world.addOffer(main, code, {
        destination_url,
        fallback_url: "https://own.example/",
        ...columns,
      }),
    );
  }
  const other = await world.addTenant("other");
  ids.set("FOREIGN", await world.addOffer(other, "FOREIGN"));
  for (const [code, mode, rules, columns] of LINKS) {
    const affiliate_id = columns?.isBound === true ? secondId : null;
    const status = columns?.status ?? "active";
    links.set(
      code,
      await world.addSmartLink(main, code, { mode, affiliate_id, status, rules: rules.map(rule) }),
    );
  }
  await world.untilCurrent();
});
afterAll(() => world.close());

function rule([offers, conditions = {}]: Rule): object {
  return {
    name: "rule",
    conditions,
    offers: offers.map(([code, weight]) => ({ offer_id: ids.get(code), weight })),
  };
}

type LinkColumns = { readonly isBound?: true; readonly status?: string };
const LINKS: readonly (readonly [
  code: string,
  mode: string,
  rules: readonly Rule[],
  columns?: LinkColumns,
])[] = [
  ["one", "weighted", [[[["A", 1]]]]],
  ["my-smart", "weighted", [[[["A", 1]]]]],
  ["bound", "weighted", [[[["A", 1]]]], { isBound: true }],
  ["asleep", "weighted", [[[["A", 1]]]], { status: "paused" }],
  [
    "weights",
    "weighted",
    [
      [
        [
          ["A", 1],
          ["B", 3],
          ["C", 0],
          ["PAUSED", 1_000],
        ],
      ],
    ],
  ],
  [
    "zeros",
    "weighted",
    [
      [
        [
          ["A", 0],
          ["B", 0],
        ],
      ],
    ],
  ],
  [
    "rules",
    "weighted",
    [
      [[["A", 1]], { countries_allow: ["US"] }],
      [[["PAUSED", 1]], { countries_allow: ["DE"] }],
      [[["B", 1]], { devices_allow: ["desktop"] }],
      [[["C", 1]]],
    ],
  ],
  [
    "fall",
    "waterfall",
    [
      [
        [
          ["PAUSED", 9],
          ["FOREIGN", 9],
          ["US", 9],
          ["B", 0],
          ["C", 9],
        ],
      ],
    ],
  ],
  [
    "over",
    "waterfall",
    [
      [
        [
          ["PAUSED", 1],
          ["OVER", 1],
          ["A", 1],
        ],
      ],
    ],
  ],
  [
    "bad",
    "waterfall",
    [
      [
        [
          ["BAD", 1],
          ["A", 1],
        ],
      ],
    ],
  ],
  [
    "none-w",
    "weighted",
    [
      [
        [
          ["PAUSED", 1],
          ["PRIVATE", 1],
        ],
      ],
    ],
  ],
  ["none-empty", "weighted", []],
  ["none-rule", "waterfall", [[[["A", 1]], { countries_allow: ["US"] }]]],
  ["none-foreign", "waterfall", [[[["FOREIGN", 1]]]]],
  [
    "all-paused",
    "waterfall",
    [
      [
        [
          ["PAUSED", 1],
          ["PRIVATE", 1],
        ],
      ],
    ],
  ],
  [
    "all-private",
    "waterfall",
    [
      [
        [
          ["PRIVATE", 1],
          ["PAUSED", 1],
        ],
      ],
    ],
  ],
  ["all-target", "waterfall", [[[["US", 1]]], [[["PAUSED", 1]]]]],
  [
    "all-cap",
    "waterfall",
    [
      [[["PAUSED", 1]], { countries_allow: ["US"] }],
      [
        [
          ["FULL", 1],
          ["PAUSED", 1],
        ],
      ],
    ],
  ],
];

async function taken(target: string, asking: Asking = {}): Promise<unknown[]> {
  const [line, click] = await world.follow(target, main, asking);
  return [line, click["status"], click["status_reason"], click["offer_id"]];
}

test.each([
  ["/s/one-PART02", "one"],
  ["/s/ONE-part02", "one"],
  ["/s/one?aid=PART02", "one"],
  ["/s/one?aff=part02", "one"],
  ["/s/my-smart-PART02", "my-smart"],
  ["/s/my-smart?aid=PART02", "my-smart"],
  ["/s/bound", "bound"],
  ["/s/bound-PART02", "bound"],
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

test.each([
  "/s/one",
  "/s/one-nobody",
  "/s/none-PART02",
  "/s/-PART02",
  "/s/one-",
  "/s/bound-PART01",
  "/s/bound?aid=PART01",
])("%s is unknown (G147)", async (target) => {
  const answer = await world.ask(target);
  expect([answer.status, answer.body]).toEqual([404, '{"error":"unknown_link"}']);
});

test("weights are shares of the eligible offers (G147)", async () => {
  const counts = new Map<string, number>();
  await Promise.all(
    Array.from({ length: 400 }, async () => {
      const answer = await world.ask("/s/weights-PART01");
      const host =
        /Location,https:\/\/(\w+)\./.exec(
          answer.headers.map((pair) => pair.join()).join("\n"),
        )?.[1] ?? "";
      counts.set(host, (counts.get(host) ?? 0) + 1);
    }),
  );
  expect([...counts.keys()].sort()).toEqual(["a", "b"]);
  // 300 are expected; the bounds are six standard deviations away.
  expect(counts.get("b")).toBeGreaterThan(248);
  expect(counts.get("b")).toBeLessThan(352);
  const [line] = await world.follow("/s/zeros-PART01", main);
  expect(line).toMatch(/^302 https:\/\/[ab]\.example\/$/);
});

test("the first rule that is met and has an eligible offer decides (G147)", async () => {
  expect(await taken("/s/rules-PART01", { ip: AMERICAN_IP })).toEqual([
    "302 https://a.example/",
    "redirect",
    "",
    ids.get("A"),
  ]);
  expect(await taken("/s/rules-PART01")).toEqual([
    "302 https://b.example/",
    "redirect",
    "",
    ids.get("B"),
  ]);
  expect(await taken("/s/rules-PART01", { userAgent: PIXEL })).toEqual([
    "302 https://c.example/",
    "redirect",
    "",
    ids.get("C"),
  ]);
});

test("a waterfall takes the first eligible offer whatever the weights, also with an alerting cap (G147)", async () => {
  expect(await taken("/s/fall-PART01")).toEqual([
    "302 https://b.example/",
    "redirect",
    "",
    ids.get("B"),
  ]);
  expect(await taken("/s/fall-PART01", { ip: AMERICAN_IP })).toEqual([
    "302 https://us.example/",
    "redirect",
    "",
    ids.get("US"),
  ]);
  expect(await taken("/s/over-PART01")).toEqual([
    "302 https://over.example/",
    "redirect",
    "cap_over",
    ids.get("OVER"),
  ]);
  expect(await taken("/s/bad-PART01?sub1=a%20b")).toEqual([
    "302 https://bad.example/",
    "fallback",
    "bad_destination",
    ids.get("BAD"),
  ]);
});

test.each(["none-w", "none-empty", "none-rule", "none-foreign"])(
  "%s has no eligible offer: no_match, of no offer, to the workspace's fallback (TRK-033)",
  async (code) => {
    expect(await taken(`/s/${code}-PART01`)).toEqual([
      `302 ${WORKSPACE_FALLBACK}`,
      "fallback",
      "no_match",
      0,
    ]);
  },
);

test.each([
  ["all-paused", "paused"],
  ["all-private", "not_approved"],
  ["all-target", "targeting"],
  ["all-cap", "cap"],
])(
  "in the waterfall %s all fail: %s, the reason of the first one tried, of no offer (TRK-038)",
  async (code, reason) => {
    expect(await taken(`/s/${code}-PART01`)).toEqual([
      `302 ${WORKSPACE_FALLBACK}`,
      "fallback",
      reason,
      0,
    ]);
  },
);

test("a paused smart link (TRK-027)", async () => {
  expect(await taken("/s/asleep-PART01")).toEqual([
    `302 ${WORKSPACE_FALLBACK}`,
    "fallback",
    "paused",
    0,
  ]);
});

test("with url= any host of its offers is allowed, and the choice is recorded (TRK-009, TRK-022)", async () => {
  const url = "url=https://c.example/x";
  expect(await taken(`/s/asleep-PART01?url=https://a.example/x`)).toEqual([
    "302 https://a.example/x",
    "redirect",
    "paused",
    0,
  ]);
  expect(await taken(`/s/fall-PART01?${url}`)).toEqual([
    "302 https://c.example/x",
    "redirect",
    "",
    ids.get("B"),
  ]);
  expect(await taken("/s/none-w-PART01?url=https://private.example/")).toEqual([
    "302 https://private.example/",
    "redirect",
    "no_match",
    0,
  ]);
  expect(await taken("/s/all-cap-PART01?url=https://full.example/")).toEqual([
    "302 https://full.example/",
    "redirect",
    "cap",
    0,
  ]);
  const refused = await world.ask(`/s/one-PART01?${url}`);
  expect([refused.status, refused.body]).toEqual([403, '{"error":"not_allowed"}']);
  const foreign = await world.ask("/s/none-foreign-PART01?url=https://shop.example/");
  expect([foreign.status, foreign.body]).toEqual([403, '{"error":"not_allowed"}']);
});
