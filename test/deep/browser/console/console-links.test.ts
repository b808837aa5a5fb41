import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import { field, press, RecordWorld } from "./record-world.ts";

const program = findChromium();
const OFFER = "Shoes with links";
const PARTNER = "Anna's blog";

describe.skipIf(program === undefined)("links and templates of ads", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    await world.makeOffer({ name: OFFER });
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const link = (page: Page) => page.locator("code.break").first();
  const chosen = async (): Promise<Page> => {
    const page = await world.open("/links");
    await choose(page, "Offer", { sought: OFFER });
    await choose(page, "Partner", { sought: PARTNER });
    await link(page).waitFor();
    return page;
  };
  const checkTemplate = async (page: Page, template: string): Promise<void> => {
    await field(page, "Tracking template").fill(template);
    await press(page, "Check");
  };

  test("a link has any of ten sub IDs and a page of the shop, to which its click leads", async () => {
    const page = await world.open("/links");
    await page.getByText("Choose an offer and a partner to see the link.").waitFor();
    await choose(page, "Offer", { sought: OFFER });
    await choose(page, "Partner", { sought: PARTNER });
    await page.getByText("Sub 4 to 10").click();
    await field(page, "Sub 7").fill("a&b ü");
    await field(page, "Landing page").fill("shop.example/sale");
    await page.getByText("Start with https://").waitFor();
    await expect.poll(() => link(page).textContent()).not.toContain("url=");
    await field(page, "Landing page").fill(" https://shop.example/sale?size=40&c={click_id} ");
    await expect.poll(() => link(page).textContent()).toMatch(/sub7=a%26b%20%C3%BC&url=https%3A/);
    const answer = await fetch((await link(page).textContent()) ?? "", { redirect: "manual" });
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toMatch(/^https:\/\/shop\.example\/sale\?size=40&c=/);
    await page.getByText("QR code").click();
    await page.getByRole("img", { name: "QR code of the link" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });

  test("the kind without redirect gives template and suffix, and the check takes them over", async () => {
    const page = await chosen();
    await field(page, "Kind").selectOption("transparent");
    const template = page.locator("code.break").filter({ hasText: "{lpurl}" });
    await template.waitFor();
    expect(await field(page, "Landing page").count()).toBe(0);
    await field(page, "Sub 1").fill("mail");
    await expect.poll(() => template.textContent()).toContain("sub1=mail");
    await press(page, "Check this template");
    expect(await field(page, "Tracking template").inputValue()).toBe(await template.textContent());
    expect(await field(page, "Final URL suffix").inputValue()).not.toBe("");
    await press(page, "Check");
    // The demo has no certificate and no certified domain.
    await page.getByText("The template does not work like this").waitFor();
    await page.getByText("Error: The tracker is not an https address").waitFor();
    await page.context().close();
  });

  test("a template is judged by the rules of its platform, with what to write instead", async () => {
    const page = await world.open("/links");
    await checkTemplate(page, "{lpurl}");
    await page.getByText("Note: The template begins with the landing page").waitFor();
    await page.getByText("The template works", { exact: true }).waitFor();
    expect(await page.getByText(/^Error:/).count()).toBe(0);
    // A verdict is about what was checked, and gone with the next change.
    await field(page, "Tracking template").fill("{lpurl}?a=b c");
    await page.getByText("The template works", { exact: true }).waitFor({ state: "detached" });
    expect(await field(page, "Tracking template").inputValue()).toBe("{lpurl}?a=b c");
    await checkTemplate(page, "https://t.example/c/A-B?url={lpurl}&gclid={gclid}&x=</b>{{");
    await page.getByText("Error: An unmatched brace, or nested tags").waitFor();
    await page.getByText("End the template with url={lpurl}").first().waitFor();
    await field(page, "Ad platform").selectOption("adplatform_b");
    await press(page, "Check");
    await page.getByText("Add msclkid={msclkid}").waitFor();
    await page.context().close();
  });

  test("a test follows the template and says where it ends; nothing is sent into private networks", async () => {
    const page = await world.open("/links");
    const follow = page.getByRole("button", { name: "Test with one click" });
    expect(await follow.isDisabled()).toBe(true);
    await field(page, "Tracking template").fill(`${browser.demo.tracking_url}/c/A-B?url={lpurl}`);
    await field(page, "Final URL").fill("shop.example");
    await follow.click();
    await page
      .locator(".notice.bad")
      .getByText(/final.url/i)
      .waitFor();
    await field(page, "Final URL").fill("https://shop.example/");
    await follow.click();
    await page.getByText("It does not lead to the landing page").waitFor();
    await page.getByText("It leads to an address that is not public").waitFor();
    await page.context().close();
  });

  test("a partner makes its own link on the screen, and has no check of templates", async () => {
    const page = await world.open("/links", "partner", 390);
    await page.getByText("Choose an offer to see your link.").waitFor();
    expect(await page.getByText("Check a tracking template").count()).toBe(0);
    await choose(page, "Offer", { sought: "" });
    await link(page).waitFor();
    await field(page, "Source").fill("mail");
    await expect.poll(() => link(page).textContent()).toMatch(/source_id=mail$/);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });
});
