import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, record } from "./api-world.ts";
import { runTracker } from "./run-tracker.ts";

const Records = z.array(z.looseObject({ id: z.int(), name: z.string().optional() }));
const PARTNERS = 120;
const WIDTH = 80;

const world = await forThisFile(ApiWorld.open());
let offerId = 0;
beforeAll(async () => {
  ({ id: offerId } = await world.offer({ code: "SUMMER" }));
  for (let number = 1; number <= PARTNERS; number += 1)
    record(await world.post("/affiliates", { name: `Partner ${number} ${"x".repeat(90)}` }));
  record(await world.post("/affiliates", { name: "Blocked", code: "BLOCKED1", status: "blocked" }));
  const url = "https://partner.example/postback?click={click_id}&payout={payout}&status={status}";
  record(await world.post("/postbacks", { offer_id: offerId, url }));
  const events = ["conversion.created", "conversion.updated"];
  record(await world.post("/webhooks", { name: "Hook", url: "https://hooks.example/x", events }));
  record(await world.post("/smart-links", { name: "Best of all", code: "BEST" }));
});

async function inFirst(...args: string[]): Promise<string> {
  return await runTracker(world, ...args, "--workspace", "first");
}

async function listed(...args: string[]) {
  return Records.parse(JSON.parse(await inFirst(...args, "--json")));
}

test.each([
  ["offer list", "CODE  +NAME", "SUMMER"],
  ["affiliate list", "CODE  +NAME", "BLOCKED1"],
  ["advertiser list", "ID  +NAME", "Advertiser"],
  ["smart-link list", "CODE  +NAME", "BEST"],
  ["postback list", "OFFER  +EVENT", "approved"],
  ["webhook list", "NAME  +ACTIVE", "Hook"],
  ["domain list", "", ""],
  ["key list", "ID  +NAME", "admin"],
  ["user list", "ID  +NAME", "Owner"],
])(
  "%s shows a table that fits a terminal, and all fields as JSON",
  async (command, titles, row) => {
    const words = command.split(" ");
    const text = await inFirst(...words);
    expect(text).toMatch(new RegExp(titles));
    expect(text).toContain(row);
    for (const line of text.split("\n")) expect(Array.from(line).length).toBeLessThanOrEqual(WIDTH);
    for (const { id } of await listed(...words)) expect(id).toBeGreaterThan(0);
  },
);

test("a list is complete beyond a page, and filters narrow it", async () => {
  const all = await listed("affiliate", "list");
  expect(new Set(all.map(({ id }) => id)).size).toBe(PARTNERS + 2);
  expect(await listed("affiliate", "list", "--status", "blocked")).toHaveLength(1);
  expect(await listed("affiliate", "list", "--q", "Partner 7")).toHaveLength(11);
  await expect(inFirst("affiliate", "list", "--status", "gone")).rejects.toThrow(/status/);
});

test("one record is shown with all fields, secrets only there", async () => {
  expect(await inFirst("offer", "show", "SUMMER")).toMatch(/^code +SUMMER$/m);
  expect(JSON.parse(await inFirst("offer", "show", String(offerId), "--json"))).toMatchObject({
    code: "SUMMER",
    events: [{ code: "default" }],
  });
  await expect(inFirst("offer", "show", "NOSUCH")).rejects.toThrow(/offer/);
  const [advertiser] = await listed("advertiser", "list");
  const [webhook] = await listed("webhook", "list");
  expect(advertiser).not.toHaveProperty("postback_token");
  expect(webhook).not.toHaveProperty("secret");
  expect(await inFirst("advertiser", "show", String(advertiser?.id))).toMatch(
    /^postback_token +\w{20,}$/m,
  );
  expect(await inFirst("webhook", "show", String(webhook?.id))).toMatch(/^secret +\S{20,}$/m);
});
