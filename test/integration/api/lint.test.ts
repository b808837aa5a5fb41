import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, record, refusal } from "./api-world.ts";

const Issue = z.looseObject({ severity: z.string(), code: z.string() });
const Verdict = z.looseObject({ template: z.looseObject({ issues: z.array(Issue) }) });
const PATHS = ["/ad-platform/lint", "/google-ads/lint"];
const TEMPLATE = "https://go.example/c/SHOP-ANNA?gclid={gclid}&url={lpurl}";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
for (const [host, fields] of [
  ["go.example", { certification: "certified" }],
  ["new.example", {}],
  ["off.example", { status: "inactive" }],
] as const) {
  record(await world.post("/tracking-domains", { host, ...fields }));
}

async function stored(): Promise<unknown> {
  const { rows } = await world.pool.query({
    text: "select (select count(*) from audit_log) as log, (select max(version) from catalog_entry) as catalog",
  });
  return rows;
}

test.each(PATHS)("%s checks a template and a suffix (LINT-001, LINT-002, T51)", async (path) => {
  const answer = await world.post(path, {
    template: TEMPLATE,
    final_url: "https://shop.example/",
    suffix: "campaignid={campaignid}",
    platform: "adplatform_a",
    allow_uncertified: false,
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    data: {
      ok: true,
      template: {
        ok: true,
        host: "go.example",
        length: TEMPLATE.length,
        tags: ["{gclid}", "{lpurl}"],
        issues: [],
      },
      suffix: [],
    },
  });
});

test.each([
  ["go.example", false, []],
  ["new.example", false, ["error host_not_certified"]],
  ["new.example", true, ["warning host_not_certified"]],
  ["off.example", true, ["error unknown_host"]],
  ["go.example.evil.example", true, ["error unknown_host"]],
] as const)(
  "on %s, uncertified allowed: %s (LINT-003, LINT-017, LINT-032, LINT-033)",
  async (host, allow_uncertified, expected) => {
    const template = TEMPLATE.replace("go.example", host);
    const { body } = await world.post("/ad-platform/lint", { template, allow_uncertified });
    const { issues } = Verdict.parse(body["data"]).template;
    expect(issues.map((issue) => `${issue.severity} ${issue.code}`)).toEqual(expected);
    const data = { ok: !expected.some((line) => line.startsWith("error")) };
    expect(body).toMatchObject({ data });
  },
);

test("domains of another workspace are unknown (LINT-017)", async () => {
  const { body } = await world.post(
    "/ad-platform/lint",
    { template: TEMPLATE },
    foreign.keys.admin,
  );
  expect(body).toMatchObject({ data: { template: { issues: [{ code: "unknown_host" }] } } });
});

test("a suffix alone has no template section, but the final URL's issues (LINT-049, G168)", async () => {
  const { body } = await world.post("/ad-platform/lint", { suffix: "a=1", final_url: "foo" });
  expect(body).toMatchObject({
    data: { ok: false, template: null, suffix: [{ code: "final_url_invalid" }] },
  });
});

test.each<[body: object, field: string, id: string]>([
  [{}, "template", "LINT-004"],
  [{ final_url: "https://x/" }, "template", "LINT-004"],
  [{ template: TEMPLATE, platform: "x" }, "platform", "LINT-005"],
  [{ template: TEMPLATE, platform: "" }, "platform", "LINT-005"],
  [{ template: TEMPLATE, entity: "x" }, "entity", "LINT-046, G167"],
  [{ template: 1 }, "template", "LINT-001"],
  [{ template: "x".repeat(20_001) }, "template", "LINT-001"],
  [{ template: TEMPLATE, allow_uncertified: "yes" }, "allow_uncertified", "LINT-001"],
  [{ template: TEMPLATE, other: 1 }, "other", "LINT-001"],
])("%j is refused for %s (%s)", async (body, field) => {
  const answer = await world.post("/ad-platform/lint", body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(details(answer).fields).toHaveProperty(field);
});

test("a template that is too long is an issue, not a wrong field (LINT-010)", async () => {
  const template = TEMPLATE.replace("?", `?sub1=${"x".repeat(5_000)}&`);
  const { body } = await world.post("/ad-platform/lint", { template });
  expect(body).toMatchObject({ data: { template: { issues: [{ code: "length_over_2048" }] } } });
});

test("analysts may check, partners and advertisers may not (AUTH-007, LINT-006, LINT-050, VIS-055)", async () => {
  const before = await stored();
  for (const path of PATHS) {
    const { analyst, partner, advertiser } = world.tenant.keys;
    expect((await world.post(path, { template: TEMPLATE }, analyst)).status).toBe(200);
    for (const key of [partner, advertiser])
      expect(refusal(await world.post(path, { template: TEMPLATE }, key))).toBe("403 forbidden");
  }
  expect(await stored()).toEqual(before);
});
