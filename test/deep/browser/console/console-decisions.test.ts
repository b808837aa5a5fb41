import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";

const program = findChromium();
const Made = z.object({ data: z.object({ id: z.string() }) });
const Offer = z.object({ data: z.object({ id: z.int(), code: z.string() }) });
const Status = z.object({ data: z.object({ status: z.string() }) });

describe.skipIf(program === undefined)("decisions that can be taken back", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const send = async (path: string, body?: object, method = "POST"): Promise<unknown> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: body === undefined ? "GET" : method,
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await answer.json();
  };
  const statusOf = async (id: string): Promise<string> =>
    Status.parse(await send(`/conversions/${id}`)).data.status;

  /** An offer of its own with so many pending conversions, and the page that lists them. */
  const pending = async (name: string, count: number) => {
    const offer = Offer.parse(
      await send("/offers", {
        name,
        advertiser_id: 1,
        destination_url: "https://shop.example/",
      }),
    ).data;
    const sale = { offer_id: offer.code, affiliate_id: "DEMOANNA", status: "pending" };
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1)
      ids.push(Made.parse(await send("/conversions", sale)).data.id);
    const page = await browser.page("admin");
    const address = `${browser.base("admin")}/conversions?preset=last7&offer_id=${offer.id}`;
    await page.goto(address);
    await settled(page);
    return { page, ids, offer, address };
  };
  const notices = (page: Page): Locator => page.getByLabel("What was decided").last();
  const said = async (page: Page, words: string | RegExp): Promise<void> =>
    await notices(page).locator("strong").getByText(words, { exact: true }).waitFor();
  const press = async (place: Page | Locator, name: string): Promise<void> =>
    await place.getByRole("button", { name, exact: true }).click();

  test("a rejection by one key can be taken back, and then nothing was sent (D10)", async () => {
    const { page, ids } = await pending("Taken back", 2);
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "PATCH") sent += 1;
    });
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("r");
    await said(page, "Conversion of Taken back will be rejected");
    await page.locator("tbody").getByText("will be rejected").waitFor();
    await press(notices(page), "Undo");
    await said(page, "Taken back: Conversion of Taken back not rejected");
    // The row is chosen again, so that the other decision is one key away.
    await page.getByText("1 chosen").waitFor();
    expect(sent).toBe(0);
    for (const id of ids) expect(await statusOf(id)).toBe("pending");
    await page.context().close();
  });
});
