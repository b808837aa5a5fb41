import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, details, list, record, refusal, type Tenant } from "./api-world.ts";
import { runTracker } from "./run-tracker.ts";

const Link = z.looseObject({ data: z.looseObject({ warnings: z.array(z.string()) }) });

const world = await forThisFile(ApiWorld.open());
const first = world.tenant;
const second = await world.addTenant("second");
await world.post("/tracking-domains", { host: "go.example", is_default: true });

async function tracker(...args: string[]): Promise<string> {
  return await runTracker(world, ...args);
}

/** Status, code and field of a refusal. */
function refused(answer: Answer): string {
  const { field, fields } = details(answer);
  return `${refusal(answer)} ${field}${Object.keys(fields).join(" ")}`.trim();
}

async function hostsOf({ keys }: Tenant): Promise<unknown[]> {
  return list(await world.get("/tracking-domains", keys.admin)).map(({ host }) => host);
}

function affiliate(code: string): object {
  return { name: code, code };
}

describe("a tracking host belongs to one workspace (#13, G200)", () => {
  test.each([
    ["go.example", "unchanged"],
    ["GO.Example", "in another case"],
    ["go.example.", "with a trailing dot"],
    ["go.example:443", "with the default port"],
    ["go.example.:80", "with both"],
    ["go.example:8443", "on another port"],
  ])(
    "%s, %s, is refused to another workspace without naming its owner (#13, G200)",
    async (host) => {
      const answer = await world.post("/tracking-domains", { host }, second.keys.admin);
      expect(refused(answer)).toBe("409 conflict host");
      expect(answer.text).not.toMatch(/first|workspace/);
      expect(await hostsOf(second)).not.toContain("go.example");
    },
  );

  test("a name with non-ASCII letters and its punycode are one host (#13, G200)", async () => {
    const made = record(await world.post("/tracking-domains", { host: "Bücher.example" }));
    expect(made["host"]).toBe("xn--bcher-kva.example");
    const twin = { host: "XN--bcher-KVA.example" };
    expect(refused(await world.post("/tracking-domains", twin, second.keys.admin))).toBe(
      "409 conflict host",
    );
  });

  test("a host cannot be taken by changing another one (#13, G200)", async () => {
    const own = record(
      await world.post("/tracking-domains", { host: "mine.example" }, second.keys.admin),
    );
    const path = `/tracking-domains/${own.id}`;
    const taken = await world.patch(path, { host: "Go.example" }, second.keys.admin);
    expect(refused(taken)).toBe("409 conflict host");
  });

  test("an inactive domain keeps its host, a removed one frees it (#13, G200)", async () => {
    const { id } = record(
      await world.post("/tracking-domains", { host: "off.example", status: "inactive" }),
    );
    const take = () => world.post("/tracking-domains", { host: "off.example" }, second.keys.admin);
    expect(refused(await take())).toBe("409 conflict host");
    expect((await world.call("DELETE", `/tracking-domains/${id}`)).status).toBe(200);
    expect((await take()).status).toBe(201);
  });

  test("one of 20 concurrent calls gets a host (#13, G200)", async () => {
    const tenants = [first, second];
    const spellings = ["race.example", "RACE.example", "race.example.", "race.example:8080"];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world.post(
          "/tracking-domains",
          { host: spellings[i % spellings.length] },
          tenants[i % 2]?.keys.admin,
        ),
      ),
    );
    const owners = await Promise.all(tenants.map(hostsOf));
    const having = owners.filter((hosts) => hosts.some((host) => String(host).startsWith("race.")));
    expect(having).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });

  test.each(["go.example:0", "go.example:65536", "go.example:", "a b.example", "[::1]", "."])(
    "%s is not a valid host (#13)",
    async (host) => {
      expect(refused(await world.post("/tracking-domains", { host }))).toBe(
        "400 validation_failed host",
      );
    },
  );
});

describe("the operator shares a host (#13, G208)", () => {
  test("not while two workspaces have equal codes, which are listed (#13, G200)", async () => {
    await world.post("/affiliates", affiliate("CLASH1"), first.keys.admin);
    await world.post("/affiliates", affiliate("clash1"), second.keys.admin);
    await expect(tracker("domain", "share", "GO.example.", "--with", "second")).rejects.toThrow(
      /^Not shared: .*\n {2}affiliate clash1\nGive second a host/,
    );
    expect(await hostsOf(second)).not.toContain("go.example");
    await world.pool.query({
      text: "update affiliate set code = 'NOCLASH' where workspace_id = $1 and code = 'clash1'",
      values: [second.workspaceId],
    });
  });

  test("a shared host is listed in both, and sharing it again changes nothing (#13, G208)", async () => {
    const output = await tracker("domain", "share", "go.example", "--with", "second");
    expect(output).toMatch(/go\.example of first is shared with second/);
    expect(await hostsOf(second)).toContain("go.example");
    await tracker("domain", "share", "go.example", "--with", "second");
    expect((await hostsOf(second)).filter((host) => host === "go.example")).toHaveLength(1);
  });

  test("a refused share has its reason (#13, G208)", async () => {
    const share = (host: string, slug: string) => tracker("domain", "share", host, "--with", slug);
    await expect(share("nobody.example", "second")).rejects.toThrow(/No workspace has the host/);
    await expect(share("go.example", "first")).rejects.toThrow(/first's own/);
    await expect(share("go.example", "none")).rejects.toThrow(/no workspace none/);
  });

  test("a shared host can be neither renamed nor removed (#13, G200)", async () => {
    const domain = list(await world.get("/tracking-domains")).find(
      ({ host }) => host === "go.example",
    );
    const path = `/tracking-domains/${String(domain?.id)}`;
    expect(refused(await world.patch(path, { host: "new.example" }))).toBe("409 conflict host");
    expect(refused(await world.call("DELETE", path))).toBe("409 in_use");
    expect((await world.patch(path, { certification: "certified" })).status).toBe(200);
  });

  test("a second equal code of an offer, a partner or a smart link is 409 (#13, G200)", async () => {
    const offer = await world.offer({ code: "SHARED-1" });
    const twin = {
      name: "Twin",
      code: "shared-1",
      destination_url: "https://x.example/",
      advertiser_id: second.advertiserId,
      payout: "1",
      revenue: "1",
    };
    const admin = second.keys.admin;
    expect(refused(await world.post("/offers", twin, admin))).toBe("409 conflict code");
    expect(refused(await world.post("/affiliates", affiliate(first.affiliateCode), admin))).toBe(
      "409 conflict code",
    );
    await world.post("/smart-links", { name: "Best", code: "BEST" });
    const best = { name: "Best", code: "best" };
    expect(refused(await world.post("/smart-links", best, admin))).toBe("409 conflict code");
    const other = record(await world.post("/smart-links", { ...best, code: "next" }, admin));
    const renamed = await world.patch(`/smart-links/${other.id}`, { code: "Best" }, admin);
    expect(refused(renamed)).toBe("409 conflict code");
    // A deleted offer frees its code.
    await world.pool.query({
      text: "update offer set deleted_at = now() where id = $1",
      values: [offer.id],
    });
    expect((await world.post("/offers", twin, admin)).status).toBe(201);
  });

  test("one of 40 concurrent calls in both workspaces gets a code (#13, G200)", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        world.post("/affiliates", affiliate("RACER1"), (i % 2 === 0 ? first : second).keys.admin),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(39);
  });

  test("codes added while a host is being shared are unique (#13, G200)", async () => {
    const third = await world.addTenant("third");
    await world.post("/tracking-domains", { host: "late.example" });
    const codes = Array.from({ length: 10 }, (_, i) => `LATE${i}A`);
    const add = ({ keys }: Tenant) =>
      codes.map((code) => world.post("/affiliates", affiliate(code), keys.admin));
    const [shared] = await Promise.allSettled([
      tracker("domain", "share", "late.example", "--with", "third"),
      ...add(first),
      ...add(third),
    ]);
    const { rows } = await world.pool.query<{ twins: number }>({
      text: `select count(*)::integer as twins from affiliate a join affiliate b on lower(a.code) = lower(b.code)
             where a.workspace_id = $1 and b.workspace_id = $2`,
      values: [first.workspaceId, third.workspaceId],
    });
    expect(rows[0]?.twins === 0 || shared.status === "rejected").toBe(true);
  });

  test("an import reports a code of the other workspace by its row (#13, G200)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tracker-import-"));
    const file = join(folder, "partners.csv");
    await writeFile(file, "code,name\nFREE01,Free\nRACER1,Taken\n");
    const winner = await world.pool.query<{ slug: string }>({
      text: "select slug from affiliate a join workspace w on w.id = a.workspace_id where a.code = 'RACER1'",
    });
    const loser = winner.rows[0]?.slug === "first" ? "second" : "first";
    await expect(tracker("affiliate", "import", file, "--workspace", loser)).rejects.toThrow(
      /2.*code.*same host/s,
    );
    await rm(folder, { recursive: true });
  });

  test("the workspace that uses a share can give it back (#13, G208)", async () => {
    await tracker("domain", "remove", "go.example", "--workspace", "second");
    expect(await hostsOf(second)).not.toContain("go.example");
    // Codes are unique per workspace again.
    const own = affiliate(first.affiliateCode);
    expect((await world.post("/affiliates", own, second.keys.admin)).status).toBe(201);
    expect(
      refused(await world.post("/tracking-domains", { host: "go.example" }, second.keys.admin)),
    ).toBe("409 conflict host");
  });
});

test("/tracking-link warns of equal codes on a host whose clicks go elsewhere (#13, G200)", async () => {
  const old = await world.addTenant("oldtwin");
  await world.post("/tracking-domains", { host: "old.example", certification: "certified" });
  const code = "TWIN01";
  await world.offer({ code });
  await world.post("/affiliates", affiliate(code));
  // As in an older installation: both workspaces list the host and have equal codes.
  await world.offer({ code, advertiser_id: old.advertiserId }, old.keys.admin);
  await world.post("/affiliates", affiliate(code), old.keys.admin);
  await world.pool.query({
    text: `insert into tracking_domain (workspace_id, host, certification, shared_from)
           select $1, host, certification, id from tracking_domain where host = 'old.example'`,
    values: [old.workspaceId],
  });
  const path = (affiliateCode: string) =>
    `/tracking-link?offer=${code}&affiliate=${affiliateCode}&host=old.example`;
  expect(await warningsOf(old.keys.admin, path(code))).toEqual([
    "another workspace had old.example first and has both codes: clicks go to it",
  ]);
  expect(await warningsOf(old.keys.admin, path(old.affiliateCode))).toEqual([
    `another workspace on old.example has the offer code ${code} too`,
  ]);
  expect(await warningsOf(first.keys.admin, path(code))).toHaveLength(2);
});

async function warningsOf(key: string, path: string): Promise<unknown> {
  const { body } = await world.get(path, key);
  return Link.parse(body).data.warnings;
}

describe("workspace create (#13, G200)", () => {
  test("a further workspace has no host of TRACKING_URL; the output shows how to add one (#13, G200)", async () => {
    const output = await tracker("workspace", "create", "--name", "Later");
    expect(output).toMatch(/domain add go\.example\.com --workspace later --default/);
    expect(output).toMatch(/domain share 127\.0\.0\.1:8080 --with later/);
    expect(JSON.parse(await tracker("domain", "list", "--workspace", "later", "--json"))).toEqual(
      [],
    );
  });

  test("the demo shares the tracking address if another workspace has it (#13, G200)", async () => {
    await world.post("/tracking-domains", { host: "127.0.0.1:8080", scheme: "http" });
    await tracker("demo", "--json");
    const domains: unknown = JSON.parse(
      await tracker("domain", "list", "--workspace", "demo", "--json"),
    );
    expect(domains).toMatchObject([{ host: "127.0.0.1:8080", scheme: "http" }]);
  });
});
