import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { RecordWorld } from "./record-world.ts";

const program = findChromium();

describe.skipIf(program === undefined)("the domain of a partner's link", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  const offers: number[] = [];
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    for (const name of ["On domains", "On these, too"])
      offers.push(await world.makeOffer({ name }));
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test("with one domain there is nothing to choose; with several the choice is kept for all offers", async () => {
    const page = await world.open(`/offers/${offers[0]}`, "partner");
    const domain = page.getByLabel("Domain", { exact: true });
    const link = page.locator("code.break").first();
    await link.waitFor();
    expect(await domain.count()).toBe(0);
    await world.make("/tracking-domains", { host: "blue.example" });
    await world.make("/tracking-domains", { host: "amber.example" });
    const theirs = await world.make("/tracking-domains", { host: "theirs.example" });
    const other = await world.make("/affiliates", { name: "Has a domain" });
    const assigned = { domain_id: theirs, affiliate_id: other };
    await world.make("/tracking-domain-assignments", assigned);
    await page.reload();
    await settled(page);
    const own = new URL(browser.demo.tracking_url).host;
    expect(await domain.locator("option").allTextContents()).toEqual([
      `${own} (standard)`,
      "amber.example",
      "blue.example",
    ]);
    await domain.selectOption("blue.example");
    await expect.poll(() => link.textContent()).toMatch(/^https:\/\/blue\.example\/r\//);
    await page.getByLabel("Sub 1", { exact: true }).fill("mail");
    await expect.poll(() => link.textContent()).toMatch(/^https:\/\/blue\.example.*sub1=mail$/);
    await page.goto(`${browser.base("partner")}/offers/${offers[1]}`);
    await settled(page);
    expect(await domain.inputValue()).toBe("blue.example");
    await expect.poll(() => link.textContent()).toContain("https://blue.example/r/");
    await page.reload();
    await settled(page);
    expect(await domain.inputValue()).toBe("blue.example");
    await page.context().close();
  });

  test("a chosen domain that is switched off gives way to the link's own", async () => {
    const page = await world.open(`/offers/${offers[0]}`, "partner");
    const domain = page.getByLabel("Domain", { exact: true });
    const link = page.locator("code.break").first();
    await domain.selectOption("amber.example");
    await expect.poll(() => link.textContent()).toContain("https://amber.example/r/");
    const domains = await world.list("/tracking-domains?limit=200");
    for (const { id, host } of domains)
      if (String(host).endsWith("r.example") || host === "blue.example")
        await world.change(`/tracking-domains/${id}`, { status: "inactive" });
    await page.reload();
    await settled(page);
    expect(await domain.count()).toBe(0);
    await expect.poll(() => link.textContent()).toContain(`${browser.demo.tracking_url}/r/`);
    await page.context().close();
  });
});
