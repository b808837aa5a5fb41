import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import { RecordWorld } from "./record-world.ts";

const program = findChromium();
const Hosts = z.object({
  data: z.array(z.object({ host: z.string(), is_default: z.boolean() })),
});

describe.skipIf(program === undefined)("the domain of a partner's link", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  let first = 0;
  let second = 0;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    first = await world.makeOffer({ name: "On domains" });
    second = await world.makeOffer({ name: "On these, too" });
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test("with one domain there is nothing to choose; with several the choice is kept for all offers", async () => {
    const page = await browser.page("partner");
    // Other files give the workspace domains of theirs.
    await page.route("**/link-hosts", async (route) => {
      const answer = await route.fetch();
      const { data } = Hosts.parse(await answer.json());
      await route.fulfill({ json: { data: data.filter((one) => one.is_default) } });
    });
    await page.goto(`${browser.base("partner")}/offers/${first}`);
    await settled(page);
    const domain = page.getByLabel("Domain", { exact: true });
    const link = page.locator("code.break").first();
    await link.waitFor();
    expect(await domain.count()).toBe(0);
    await page.unroute("**/link-hosts");
    await world.make("/tracking-domains", { host: "blue.example" });
    await world.make("/tracking-domains", { host: "amber.example" });
    const theirs = await world.make("/tracking-domains", { host: "theirs.example" });
    const other = await world.make("/affiliates", { name: "Has a domain" });
    const assigned = { domain_id: theirs, affiliate_id: other };
    await world.make("/tracking-domain-assignments", assigned);
    await page.reload();
    await settled(page);
    const own = new URL(browser.demo.tracking_url).host;
    const names = await domain.locator("option").allTextContents();
    expect(names[0]).toBe(`${own} (standard)`);
    expect(names.slice(1)).toEqual(names.slice(1).toSorted());
    expect(names).toEqual(expect.arrayContaining(["amber.example", "blue.example"]));
    expect(names).not.toContain("theirs.example");
    await domain.selectOption("blue.example");
    await expect.poll(() => link.textContent()).toMatch(/^https:\/\/blue\.example\/r\//);
    await page.getByLabel("Sub 1", { exact: true }).fill("mail");
    await expect.poll(() => link.textContent()).toMatch(/^https:\/\/blue\.example.*sub1=mail$/);
    await page.goto(`${browser.base("partner")}/offers/${second}`);
    await settled(page);
    expect(await domain.inputValue()).toBe("blue.example");
    await expect.poll(() => link.textContent()).toContain("https://blue.example/r/");
    await page.reload();
    await settled(page);
    expect(await domain.inputValue()).toBe("blue.example");
    await page.context().close();
  });

  test("the screen Links offers a partner the domains of the offer page, and the staff all active ones", async () => {
    const page = await world.open(`/offers/${second}`, "partner");
    const domain = page.getByLabel("Domain", { exact: true });
    await domain.selectOption("blue.example");
    await page.goto(`${browser.base("partner")}/links`);
    await choose(page, "Offer", { sought: "On domains" });
    const link = page.locator("code.break").first();
    await expect.poll(() => domain.inputValue()).toBe("blue.example");
    await expect.poll(() => link.textContent()).toContain("https://blue.example/r/");
    expect(await domain.locator("option").allTextContents()).not.toContain("theirs.example");
    await domain.selectOption("amber.example");
    await expect.poll(() => link.textContent()).toContain("https://amber.example/r/");
    await page.getByLabel("Source", { exact: true }).fill("mail");
    await expect.poll(() => link.textContent()).toMatch(/^https:\/\/amber\..*source_id=mail$/);
    await page.goto(`${browser.base("partner")}/offers/${first}`);
    await settled(page);
    expect(await domain.inputValue()).toBe("amber.example");
    await page.context().close();

    const staff = await world.open("/links");
    await choose(staff, "Offer", { sought: "On domains" });
    await choose(staff, "Partner", { sought: "Has a domain" });
    const theirs = staff.getByLabel("Domain", { exact: true });
    await expect
      .poll(() => theirs.locator("option").first().textContent())
      .toBe("theirs.example (standard)");
    const made = staff.locator("code.break").first();
    await expect.poll(() => made.textContent()).toContain("https://theirs.example/r/");
    await theirs.selectOption("blue.example");
    await expect.poll(() => made.textContent()).toContain("https://blue.example/r/");
    expect(await theirs.inputValue()).toBe("blue.example");
    await staff.context().close();
  });

  test("a chosen domain that is switched off gives way to the link's own", async () => {
    const page = await world.open(`/offers/${first}`, "partner");
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
    await expect.poll(() => link.textContent()).toContain(`${browser.demo.tracking_url}/r/`);
    expect(await page.getByText("amber.example").count()).toBe(0);
    await page.context().close();
  });
});
