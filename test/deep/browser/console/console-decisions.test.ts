import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";

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

  test("two decisions in a row are sent as they were made, each in words (D10)", async () => {
    const { page, ids } = await pending("In a row", 3);
    const boxes = page.locator("tbody input[type=checkbox]");
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.keyboard.press("r");
    await said(page, "2 conversions will be rejected");
    await boxes.nth(2).check();
    await page.keyboard.press("a");
    await said(page, "Conversion of In a row will be approved");
    await press(notices(page), "Reject now");
    await said(page, "2 conversions rejected");
    await press(notices(page), "Approve now");
    await said(page, "Conversion of In a row approved");
    const statuses = await Promise.all(ids.map(statusOf));
    expect(statuses.toSorted()).toEqual(["approved", "rejected", "rejected"]);
    await page.context().close();
  });

  test("who leaves the page before the ten seconds are over loses no decision (D10)", async () => {
    const { page, ids } = await pending("Left", 1);
    await page.locator("tbody input[type=checkbox]").first().check();
    await page.keyboard.press("r");
    await said(page, "Conversion of Left will be rejected");
    expect(await statusOf(ids[0] ?? "")).toBe("pending");
    await page.goto("about:blank");
    await expect.poll(async () => await statusOf(ids[0] ?? "")).toBe("rejected");
    await page.context().close();
  });

  test("what a colleague has decided in between stays, and the notice says so (D10)", async () => {
    const { page, ids } = await pending("Decided twice", 1);
    const [id = ""] = ids;
    await page.locator("tbody input[type=checkbox]").first().check();
    await page.keyboard.press("r");
    await said(page, "Conversion of Decided twice will be rejected");
    await send(`/conversions/${id}`, { status: "approved" }, "PATCH");
    await press(notices(page), "Reject now");
    await notices(page).getByText("it is approved now").last().waitFor();
    expect(await statusOf(id)).toBe("approved");
    await page.context().close();
  });

  test("a refusal names what was not changed, and its rows are chosen again (D10)", async () => {
    const { page, ids } = await pending("Refused", 2);
    await page.route("**/api/v1/conversions", async (route) => {
      if (route.request().method() !== "PATCH") return await route.fallback();
      const error = { code: "forbidden", message: "not allowed" };
      return await route.fulfill({ status: 403, json: { error } });
    });
    await page.getByLabel("All rows").check();
    await page.keyboard.press("r");
    await press(notices(page), "Reject now");
    await said(page, "2 conversions not rejected");
    await page.getByText("2 chosen").waitFor();
    await page.unroute("**/api/v1/conversions");
    await press(notices(page), "Try again");
    await said(page, "2 conversions rejected");
    for (const id of ids) expect(await statusOf(id)).toBe("rejected");
    await page.context().close();
  });

  test("the drawer offers no decision that is made already, and Undo is reached in it (D10)", async () => {
    const { page, ids, address } = await pending("In the drawer", 1);
    await page.goto(`${address}&open=${ids.join("")}`);
    const drawer = page.locator(".drawer");
    await press(drawer, "Approve");
    await press(drawer, "Undo");
    await said(page, "Taken back: Conversion of In the drawer not approved");
    await press(drawer, "Approve");
    await press(drawer, "Approve now");
    await drawer.getByText(/by Demo admin/).waitFor();
    await drawer
      .getByRole("button", { name: "Approve", exact: true })
      .waitFor({ state: "detached" });
    expect(await drawer.getByRole("button", { name: "Reject", exact: true }).count()).toBe(1);
    await page.context().close();
  });

  test("a conversion is recorded by hand once, also after an answer that was lost (job 6)", async () => {
    const { page, offer } = await pending("By hand", 0);
    const drawer = page.locator(".drawer");
    await press(page, "Record a conversion");
    await press(drawer, "Continue");
    expect(await drawer.locator(".fault").allTextContents()).toEqual([
      "Choose the offer, or enter a click ID",
      "Choose the partner, or enter a click ID",
    ]);
    await choose(drawer, "Offer", { sought: String(offer.id), name: "" });
    await choose(drawer, "Partner", { sought: "Anna's blog" });
    await press(drawer, "Continue");
    await drawer.getByLabel("Sale amount").fill("20,5");
    await press(drawer, "Check");
    await drawer.getByText("Enter an amount such as 12.50").waitFor();
    await drawer.getByLabel("Sale amount").fill("20.50");
    await press(drawer, "Check");
    await drawer.getByText("Would be").waitFor();
    const sales = `/conversions?offer_id=${offer.id}`;
    const List = z.object({ data: z.array(z.object({ sale_amount: z.string() })) });
    expect(List.parse(await send(sales)).data).toEqual([]);
    // The service records it, and its answer does not arrive.
    await page.route("**/api/v1/conversions", async (route) => {
      if (route.request().method() !== "POST") return await route.fallback();
      await route.fetch();
      return await route.abort();
    });
    await press(drawer, "Record");
    await drawer.getByText("It may be recorded.").waitFor();
    await page.unroute("**/api/v1/conversions");
    await press(drawer, "Record");
    await drawer.getByText(/by Demo admin/).waitFor();
    expect(List.parse(await send(sales)).data).toHaveLength(1);
    browser.forgive(/Failed to load resource|ERR_FAILED/);
    await page.context().close();
  });

  test.each([
    ["/offers/new?step=review", "", "Create the offer", "Advertiser", "Choose the advertiser"],
    ["/costs?of=deals", "New deal", "Create the deal", "Advertiser", "Choose the advertiser"],
  ])(
    "on %s%s a form without its choice marks the choice and goes to the first fault (D12)",
    async (...row) => {
      const [path, opens, submit, label, fault] = row;
      const page = await browser.page("admin");
      await page.goto(browser.base("admin") + path);
      await settled(page);
      if (opens !== "") await press(page, opens);
      await press(page, submit);
      const choice = page.getByRole("combobox", { name: label, exact: true }).last();
      await expect.poll(async () => await choice.getAttribute("aria-invalid")).toBe("true");
      expect(await page.locator(".fault").allTextContents()).toContain(fault);
      await expect
        .poll(async () => await page.locator(":focus").getAttribute("id"))
        .toBe(await page.locator('[aria-invalid="true"]').first().getAttribute("id"));
      await page.context().close();
    },
  );
});
