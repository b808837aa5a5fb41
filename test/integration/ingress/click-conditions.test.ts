import { beforeAll, describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf, lineOf } from "./click-answer.ts";
import { type Click, ClickPathsWorld, type Tenant } from "./click-paths-world.ts";

const SHOP = "https://shop.example/";
const FALLBACK = "https://own.example/refused";
const NEXT = "https://next.example/?o={offer_code}&c={click_id}";
const QUERY = "sub1=a%20b";

type Columns = Readonly<Record<string, unknown>>;
/** The set-up that makes a condition true for the second click of a visitor with {@link QUERY}. */
type Ingredient = {
  readonly offer?: Columns;
  readonly query?: string;
  /** Code of the partner; the one with a forced template is FORCED. */
  readonly partner?: string;
};

/** In the order of G143. The first is a matter of the workspace. */
const INGREDIENTS: readonly (readonly [reason: string, id: string, ingredient: Ingredient])[] = [
  ["workspace_inactive", "TRK-031", {}],
  ["paused", "TRK-027", { offer: { status: "paused" } }],
  ["not_approved", "TRK-028", { offer: { visibility: "approval" } }],
  ["traffic_source", "TRK-032, G181", { partner: "FORCED", query: "sub2=other" }],
  ["targeting", "TRK-029, G41", { offer: { targeting: { countries_allow: ["US"] } } }],
  ["cap", "TRK-030, G40", { offer: { caps: { clicks: { total: 0 } } } }],
  ["traffic_control", "TRK-036, G146", { query: "source_id=blocked" }],
  ["duplicate", "TRK-035, G145", { offer: { duplicate_click_seconds: 3_600 } }],
  ["bad_destination", "TRK-034", { offer: { destination_url: "https://{sub1}/" } }],
];

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main");
const dead = await world.addTenant("dead", { status: "inactive" });
const nextId = await world.addOffer(main, "NEXT", { destination_url: NEXT });
const forced = await world.addAffiliate(main.id, "FORCED");
await world.store.insert("traffic_source_template", {
  workspace_id: main.id,
  name: "T",
  params: { sub2: "news" },
  affiliate_ids: [forced],
});
await addControl({ action: "block" }, { source_ids: ["blocked"] });

async function addControl(columns: Columns, conditions: object): Promise<void> {
  await world.store.insert("traffic_control", {
    workspace_id: main.id,
    name: "R",
    ...columns,
    conditions,
  });
}

async function addOffer(code: string, columns: Columns = {}, tenant = main): Promise<number> {
  return await world.addOffer(tenant, code, { fallback_url: FALLBACK, ...columns });
}

/** Keys of an inactive workspace are refused, so its clicks are read from ClickHouse. */
async function recordOf(answer: Answer, tenant: Tenant): Promise<Click> {
  if (tenant !== dead) return await world.clickOf(answer, tenant);
  const [row] = await world.stored(`click_id = unhex('${clickIdOf(answer)}')`);
  if (row === undefined) throw new Error("no row");
  return row;
}

describe("a refused click goes to the fallback and is stored with its reason (G143)", () => {
  const ids = new Map<string, number>();

  beforeAll(async () => {
    for (const [reason, , { offer }] of INGREDIENTS) {
      const tenant = reason === "workspace_inactive" ? dead : main;
      const columns = { allowed_domains: ["shop.example"], ...offer };
      ids.set(reason, await addOffer(`X${reason}`, columns, tenant));
    }
    await world.untilCurrent();
  });

  test.each(INGREDIENTS)("%s (%s)", async (reason, _id, { partner = "PART01", query = "" }) => {
    const link = `/r/X${reason}/${partner}?${QUERY}&${query}`;
    // The first click of the visitor: a condition does not stop a url= (TRK-009, T14).
    expect(lineOf(await world.ask(`${link}&url=${SHOP}`))).toBe(`302 ${SHOP}`);
    const answer = await world.ask(link);
    expect(lineOf(answer)).toBe(`302 ${FALLBACK}`);
    const tenant = reason === "workspace_inactive" ? dead : main;
    expect(await recordOf(answer, tenant)).toMatchObject({
      status: "fallback",
      status_reason: reason,
      destination: FALLBACK,
      offer_id: ids.get(reason),
    });
  });
});

describe("records that open an offer (TRK-027, TRK-028, TRK-029)", () => {
  const DAY_MS = 86_400_000;
  const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString();
  const TOMORROW = new Date(Date.now() + DAY_MS).toISOString();
  const days = [1, 2, 3, 4, 5, 6, 7];
  const schedule = { starts_at: YESTERDAY, ends_at: TOMORROW, days };

  const cases: readonly (readonly [why: string, offer: Columns, access?: Columns])[] = [
    ["its schedule", { targeting: { schedule } }],
    ["its targeting", { targeting: { countries_allow: ["DE"], devices_allow: ["desktop"] } }],
    ["approved access", { visibility: "private" }, { status: "approved" }],
    ["accepted terms", { terms: "No spam" }, { status: "approved", terms_accepted_at: YESTERDAY }],
  ];
  const codeOf = (why: string): string => why.replaceAll(" ", "");

  beforeAll(async () => {
    for (const [why, columns, access] of cases) {
      const id = await addOffer(codeOf(why), columns);
      if (access !== undefined)
        await world.store.change(
          `insert into offer_access (offer_id, affiliate_id, status, terms_accepted_at)
           values ($1, $2, $3, $4)`,
          [id, main.affiliateId, access["status"], access["terms_accepted_at"] ?? null],
        );
    }
    await world.untilCurrent();
  });

  test.each(cases.map(([why]) => why))("%s", async (why) => {
    const [line, click] = await world.follow(`/r/${codeOf(why)}/PART01`, main);
    expect([line, click["status_reason"]]).toEqual([`302 ${SHOP}`, ""]);
  });
});

describe("clicks that lead to another offer (TRK-036, G146)", () => {
  beforeAll(async () => {
    const forwarded = await addOffer("FORWARD");
    const action = { action: "forward", forward_offer_id: nextId };
    await addControl(action, { offer_ids: [forwarded], sub: { sub1: ["x", "y"] } });
    await addOffer("FAILS", { status: "paused", fail_route_offer_id: nextId });
    await world.untilCurrent();
  });

  test.each([
    ["forwarded", "/r/FORWARD/PART01"],
    ["fail_route", "/r/FAILS/PART01"],
  ])(
    "%s: the click belongs to the other offer, expands its macros and converts",
    async (reason, link) => {
      const answer = await world.ask(`${link}?sub1=x`);
      const id = clickIdOf(answer);
      const location = `https://next.example/?o=NEXT&c=${id}`;
      expect(lineOf(answer)).toBe(`302 ${location}`);
      expect(await world.clickOf(answer, main)).toMatchObject({
        status: "redirect",
        status_reason: reason,
        offer_id: nextId,
        sub1: "x",
        destination: location,
      });
      expect(await world.report(`click_id=${id}&txid=${reason}`, main)).toMatchObject({
        ok: true,
        status: "approved",
      });
    },
  );
});
