import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { until } from "../../../system/until.ts";
import { choose, chooseFirst } from "./choose.ts";

const program = findChromium();
const List = z.object({ data: z.array(z.looseObject({ id: z.int() })) });

describe.skipIf(program === undefined)("records of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const listed = async (path: string): Promise<z.infer<typeof List>["data"]> => {
    const headers = { authorization: `Bearer ${browser.demo.keys.admin}` };
    const answer = await fetch(`${browser.demo.base_url}${path}`, { headers });
    return List.parse(await answer.json()).data;
  };
  const create = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
  };
  const open = async (path: string): Promise<Page> => {
    const page = await browser.page("admin");
    await page.goto(browser.base("admin") + path);
    await settled(page);
    return page;
  };
  const field = (page: Page | Locator, label: string) => page.getByLabel(label, { exact: true });
  const press = async (page: Page, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();

  test("a smart link that is made with forms sends visitors to its target", async () => {
    const page = await open("/rules");
    await press(page, "New smart link");
    await field(page, "Name").fill("By hand");
    await field(page.locator(".drawer"), "Code").fill("BYHAND");
    await press(page, "Add rule");
    // No offer is chosen: the fault stands at the field, and nothing is lost.
    await press(page, "Create the smart link");
    await page.locator(".row-field .fault").first().waitFor();
    expect(await field(page.locator(".drawer"), "Code").inputValue()).toBe("BYHAND");
    await page.locator("summary", { hasText: "Conditions" }).click();
    await choose(page, "Not these countries", { sought: "antarc", name: "AQ" });
    await choose(page, "Offer", { sought: "Shop: fixed amount per order" });
    await choose(page, "Only for the partner", { sought: "Anna's blog" });
    await press(page, "Create the smart link");
    await page.locator(".drawer h2", { hasText: "By hand" }).waitFor();
    const [link] = await listed("/smart-links?code=BYHAND");
    expect(link).toMatchObject({
      rules: [{ conditions: { countries_deny: ["AQ"] }, offers: [{ weight: 1 }] }],
    });
    const clicked = `${browser.demo.tracking_url}/s/BYHAND`;
    await until(
      "the link redirects",
      async () => (await fetch(clicked, { redirect: "manual" })).status === 302,
    );
    await page.context().close();
  });

  test("a coupon is made, switched off, changed and deleted", async () => {
    const page = await open("/rules?of=coupons");
    await press(page, "New coupon");
    await field(page.locator(".drawer"), "Code").fill("LAMPS10");
    await press(page, "Create the coupon");
    await page
      .locator(".field")
      .filter({ has: field(page, "Partner") })
      .locator(".fault")
      .waitFor();
    await choose(page, "Partner", { sought: "Anna's blog" });
    await field(page, "Ends (UTC)").fill("2099-01-01T00:00");
    await press(page, "Create the coupon");
    await page.getByRole("button", { name: "Deactivate", exact: true }).waitFor();
    await press(page, "Deactivate");
    await page.getByRole("button", { name: "Activate", exact: true }).waitFor();
    expect(await listed("/coupons?code=LAMPS10")).toMatchObject([
      { status: "inactive", ends_at: "2099-01-01T00:00:00.000Z" },
    ]);
    await press(page, "Edit");
    await field(page, "Ends (UTC)").fill("");
    await press(page, "Save");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    expect(await listed("/coupons?code=LAMPS10")).toMatchObject([
      { status: "inactive", ends_at: null },
    ]);
    await press(page, "Delete");
    await press(page, "Yes, delete");
    await page.locator(".drawer").waitFor({ state: "detached" });
    expect(await listed("/coupons?code=LAMPS10")).toEqual([]);
    await page.context().close();
  });

  test("the order of conversion rules is changed with buttons, and saved", async () => {
    for (const [name, position] of [
      ["First rule", 0],
      ["Second rule", 5],
    ] as const)
      await create("/conversion-rules", {
        name,
        position,
        action: "hold",
        conditions: { countries: ["AQ"] },
      });
    const page = await open("/rules?of=conversion-rules");
    await press(page, "Change the order");
    await press(page, "Move Second rule up");
    await press(page, "Save the order");
    await page.locator(".drawer").waitFor({ state: "detached" });
    const rules = await listed("/conversion-rules");
    const at = (name: string): unknown => rules.find((rule) => rule["name"] === name)?.["position"];
    expect(at("Second rule")).toBe(0);
    expect(at("First rule")).toBe(10);
    await page.context().close();
  });

  test("a traffic control keeps conditions that were not touched", async () => {
    await create("/traffic-controls", {
      name: "Kept",
      action: "block",
      conditions: { countries: ["AQ"], sub: { sub1: ["a", "b"] } },
    });
    const page = await open("/rules?of=traffic-controls");
    await page.getByRole("button", { name: "Kept" }).click();
    await press(page, "Edit");
    await field(page, "Source IDs").fill("bad-source, worse");
    await press(page, "Save");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    const [kept] = (await listed("/traffic-controls")).filter((one) => one["name"] === "Kept");
    expect(kept?.["conditions"]).toEqual({
      countries: ["AQ"],
      sub: { sub1: ["a", "b"] },
      source_ids: ["bad-source", "worse"],
    });
    await page.context().close();
  });

  test("an offer group shows how much of its caps is used", async () => {
    const page = await open("/rules?of=offer-groups");
    await press(page, "New offer group");
    await field(page, "Name").fill("Capped group");
    await choose(page, "Offers", { sought: "Shop: fixed amount per order" });
    await page.locator("summary", { hasText: "Conversions" }).click();
    await field(page, "Lifetime").first().fill("100000");
    await press(page, "Create the offer group");
    await page.locator(".drawer meter").waitFor();
    await expect
      .poll(async () => await page.locator(".drawer").textContent())
      .toContain("of 100,000");
    await page.context().close();
  });

  test("costs are pasted as CSV; rejected rows are shown by their line, the others are stored", async () => {
    const page = await open("/costs");
    await press(page, "Add costs");
    await field(page, "CSV").fill(
      "date,traffic_source,currency,amount\n2026-11-01,lamps,USD,25.40\n2026-11-02,lamps,USD,many\n",
    );
    await press(page, "Send the costs");
    await page.getByText("1 new, 0 changed, 1 rejected.").waitFor();
    await page.locator(".drawer .plain-list").getByText("Line 3").first().waitFor();
    expect(await listed("/ad-costs?traffic_source=lamps")).toMatchObject([
      { date: "2026-11-01", amount: "25.4000" },
    ]);
    await page.keyboard.press("Escape");
    await page.getByText("$25.40").waitFor();
    await page.context().close();
  });

  test("an admin sets rates of the workspace, and a wrong one stands at its field", async () => {
    const page = await open("/costs?of=rates");
    await press(page, "Set rates");
    await field(page, "Day").fill("2026-11-03");
    await choose(page, "Currency", { sought: "chf", name: "CHF" });
    await field(page, "Rate").fill("much");
    await press(page, "Save the rates");
    await page
      .locator(".field")
      .filter({ has: field(page, "Rate") })
      .locator(".fault")
      .waitFor();
    await field(page, "Rate").fill("0.9312");
    await press(page, "Save the rates");
    await page.locator(".drawer").waitFor({ state: "detached" });
    await page.getByText("0.9312").waitFor();
    const headers = { authorization: `Bearer ${browser.demo.keys.admin}` };
    const answer = await fetch(`${browser.demo.base_url}/fx-rates?currency=CHF`, { headers });
    expect(await answer.json()).toMatchObject({
      data: [{ date: "2026-11-03", rate: "0.9312", scope: "workspace" }],
    });
    await page.context().close();
  });

  test("a deal is made for an advertiser and opens from its address", async () => {
    const page = await open("/costs?of=deals");
    await press(page, "New deal");
    await field(page, "Title").fill("Ten off");
    await chooseFirst(page, "Advertiser");
    await press(page, "Create the deal");
    await page.locator(".drawer h2", { hasText: "Ten off" }).waitFor();
    await page.reload();
    await page.locator(".drawer h2", { hasText: "Ten off" }).waitFor();
    expect(await listed("/deals")).toMatchObject([{ title: "Ten off", status: "active" }]);
    await page.context().close();
  });

  test("the blocklist of the workspace is replaced as a whole, and faults name the entry", async () => {
    const page = await open("/rules?of=blocklist");
    await field(page, "One host in each line").fill("bad.example\nhttp://worse.example");
    await press(page, "Save the list");
    const fault = page.locator(".fault").first();
    await expect.poll(async () => await fault.textContent()).toContain("Enter a host");
    await field(page, "One host in each line").fill("bad.example\nworse.example/offer");
    await press(page, "Save the list");
    await until("the list is stored", async () => {
      const headers = { authorization: `Bearer ${browser.demo.keys.admin}` };
      const answer = await fetch(`${browser.demo.base_url}/blocklist`, { headers });
      return (await answer.text()).includes("worse.example/offer");
    });
    await page.context().close();
  });

  test("an analyst reads every rule and cost, and finds no button that writes", async () => {
    const page = await browser.page("analyst");
    for (const path of ["/rules", "/rules?of=coupons", "/rules?of=conversion-rules", "/costs"]) {
      await page.goto(browser.base("analyst") + path);
      await settled(page);
      const writes = page.getByRole("button", { name: /^(New|Add|Set|Change|Edit|Delete)/ });
      expect(await writes.count(), path).toBe(0);
    }
    await page.goto(`${browser.base("analyst")}/rules?of=blocklist`);
    await settled(page);
    expect(await page.locator("textarea").count()).toBe(0);
    await page.context().close();
  });
});
