import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { type Receiver, startReceiver } from "../../../integration/outgoing/receiver.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";
import { chooseFirst } from "./choose.ts";
import { field, press } from "./people-pages.ts";

const program = findChromium();
const Made = z.object({ data: z.looseObject({ id: z.union([z.int(), z.string()]) }) });
const Listed = z.object({ data: z.array(z.looseObject({ id: z.string(), status: z.string() })) });
const POSTBACKS = { admin: "/integrations", partner: "/postbacks" } as const;
/** Rows of a page of the API. */
const PAGE = 50;
const DOWN = "closed <b>for today</b>";

describe.skipIf(program === undefined)("deliveries in the console", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let receiver: Receiver;

  beforeAll(async () => {
    const schedule = "1h,1h";
    system = await startSystem({
      env: {
        ALLOW_PRIVATE_DESTINATIONS: "1",
        POSTBACK_RETRY_SCHEDULE: schedule,
        WEBHOOK_RETRY_SCHEDULE: schedule,
      },
    });
    const cookies = await signInRoles(system);
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo, cookies);
    receiver = await startReceiver();
  });
  beforeEach(() => receiver.answer((response) => response.writeHead(503).end(DOWN)));
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await receiver.close();
    await system[Symbol.asyncDispose]();
  });

  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    assert(answer.ok, `${path}: ${text}`);
    return JSON.parse(text);
  };
  const make = async (path: string, body: unknown): Promise<number> =>
    Number(Made.parse(await call("POST", path, body)).data.id);
  const open = async (role: Role, path: string, width?: number): Promise<Page> => {
    const page = await browser.page(role, width === undefined ? {} : { width });
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const url = (path: string): string => `http://127.0.0.1:${receiver.port}/${path}`;
  const arrived = (path: string): number =>
    receiver.received.filter(({ target }) => target.startsWith(`/${path}`)).length;
  /** The first delivery of a postback or webhook, once it has this status. */
  const untilStatus = async (path: string, status: string): Promise<void> => {
    await until(`${path} has a delivery that is ${status}`, async () =>
      Listed.parse(await call("GET", `${path}/deliveries`)).data.some(
        (row) => row.status === status,
      ),
    );
  };
  /** A postback of the first offer and partner, whose first attempt has failed. */
  const failedPostback = async (path: string, more: object = {}): Promise<number> => {
    const offer = await make("/offers", {
      name: path,
      advertiser_id: 1,
      destination_url: "https://shop.example/",
    });
    const id = await make("/postbacks", { offer_id: offer, affiliate_id: 1, ...more });
    await call("POST", "/conversions", { offer_id: offer, affiliate_id: 1, adv_txid: "order-77" });
    await untilStatus(`/postbacks/${id}`, "retrying");
    return id;
  };
  const opened = async (drawer: Locator, name: string): Promise<Locator> => {
    await drawer.getByRole("button", { name, expanded: false }).first().click();
    return drawer.locator(".timeline > li");
  };

  test("the failures of a webhook stay visible after it arrived, with what was sent (#39, D8)", async () => {
    const hook = await make("/webhooks", {
      name: "Late",
      url: url("late"),
      events: ["conversion.created"],
    });
    await call("POST", `/webhooks/${hook}/test`, { event: "conversion.created" });
    await untilStatus(`/webhooks/${hook}`, "retrying");
    const page = await open("admin", `/integrations/webhooks?open=${hook}`);
    const drawer = page.locator(".drawer");
    await drawer.getByText(/, 1 attempt, answered 503, next at/).waitFor();
    receiver.answer((response) => response.end("thanks"));
    await press(drawer, "Retry all now");
    await drawer.getByText(/, 2 attempts, answered 200/).waitFor();
    const attempts = await opened(drawer, "conversion.created");
    await attempts.nth(1).waitFor();
    expect(await attempts.count()).toBe(2);
    const texts = await attempts.allInnerTexts();
    expect(texts[0]).toMatch(/Attempt 2[\s\S]*Delivered[\s\S]*Answered 200[\s\S]*thanks/);
    expect(texts[1]).toMatch(/Attempt 1[\s\S]*Failed[\s\S]*Answered 503/);
    // The answer is text, whatever it looks like.
    expect(texts[1]).toContain(DOWN);
    const [sent] = receiver.received.filter(({ target }) => target === "/late");
    for (const text of texts) {
      expect(text).toContain(`POST ${url("late")}`);
      expect(text).toContain(sent?.body);
      expect(text).not.toContain("v1=");
    }
    await page.context().close();
  });

  test("a failure behind a page of later deliveries is found, and sent again from any page (#39)", async () => {
    const hook = await make("/webhooks", {
      name: "Busy",
      url: url("busy"),
      events: ["offer.created"],
    });
    const deliver = async (): Promise<unknown> =>
      await call("POST", `/webhooks/${hook}/test`, { event: "offer.created" });
    await deliver();
    await untilStatus(`/webhooks/${hook}`, "retrying");
    receiver.answer((response) => response.end());
    for (let sent = 0; sent < PAGE; sent += 1) await deliver();
    await until("all but one arrived", () => arrived("busy") > PAGE);
    const page = await open("admin", `/integrations/webhooks?open=${hook}`);
    const drawer = page.locator(".drawer");
    const rows = drawer.getByRole("button", { name: "offer.created" });
    await until("a page of them is shown", async () => (await rows.count()) === PAGE);
    const failure = drawer.getByText(/, answered 503, next at/);
    expect(await failure.count()).toBe(0);
    await press(drawer, "Show more");
    await failure.waitFor();
    expect(await rows.count()).toBe(PAGE + 1);
    const which = drawer.getByRole("group", { name: "Which deliveries" });
    await press(which, "Retrying");
    await until("the failure alone is shown", async () => (await rows.count()) === 1);
    await failure.waitFor();
    await press(which, "Failed");
    await drawer.getByText("None of these at the moment.").waitFor();
    await press(which, "All");
    await until("the first pages are back", async () => (await rows.count()) > 1);
    await press(drawer, "Retry all now");
    await drawer.getByText("Retrying 1.").waitFor();
    await drawer.getByRole("button", { name: "Retry all now" }).waitFor({ state: "detached" });
    expect(arrived("busy")).toBe(PAGE + 2);
    await page.context().close();
  });

  test("one delivery is sent again by its own button, once for two presses (#39)", async () => {
    const id = await failedPostback("single", { url: url("single?c={click_id}&s={status}") });
    const page = await open("admin", `${POSTBACKS.admin}?open=${id}`);
    const drawer = page.locator(".drawer");
    const attempts = await opened(drawer, "Conversion approved");
    await attempts.first().waitFor();
    receiver.answer((response) => response.end("thanks"));
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") asked.push(request.url());
    });
    const retry = drawer.getByRole("button", { name: "Retry this one" });
    await retry.dblclick();
    await drawer.getByText("It is sent again. The result appears here.").waitFor();
    await drawer.getByText(/, 2 attempts, answered 200/).waitFor();
    await attempts.nth(1).waitFor();
    expect(await attempts.first().innerText()).toContain("Answered 200");
    expect(await retry.count()).toBe(0);
    expect(arrived("single")).toBe(2);
    expect(asked).toHaveLength(1);
    await page.context().close();
  });

  test("a document that arrived is sent again as a delivery of its own (#39)", async () => {
    receiver.answer((response) => response.end());
    const hook = await make("/webhooks", {
      name: "Twice",
      url: url("twice"),
      events: ["offer.created"],
    });
    await call("POST", `/webhooks/${hook}/test`, { event: "offer.created" });
    await untilStatus(`/webhooks/${hook}`, "delivered");
    const page = await open("admin", `/integrations/webhooks?open=${hook}`);
    const drawer = page.locator(".drawer");
    await opened(drawer, "offer.created");
    await press(drawer, "Send again");
    await drawer.getByText("It is sent again as a new delivery").waitFor();
    await until("it arrives", () => arrived("twice") === 2);
    await drawer.getByRole("button", { name: "offer.created" }).nth(1).waitFor();
    expect(await drawer.getByRole("button", { name: "Send again" }).count()).toBe(0);
    await page.context().close();
  });

  test("a partner sees its attempts, but no value that only the staff sees (#15, P30)", async () => {
    const id = await failedPostback("staffs", { url: url("staffs?t={txid}") });
    const page = await open("partner", `${POSTBACKS.partner}?open=${id}`);
    const drawer = page.locator(".drawer");
    const attempts = await opened(drawer, "Conversion approved");
    await attempts.getByText(/^The request is not shown/).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("order-77");
    await page.context().close();
    const staff = await open("admin", `${POSTBACKS.admin}?open=${id}`);
    await opened(staff.locator(".drawer"), "Conversion approved");
    await staff.locator(".timeline").getByText(url("staffs?t=order-77")).waitFor();
    await staff.context().close();
  });

  test("a delivery that cannot be read says why, and the list stays (#39)", async () => {
    const id = await failedPostback("away", { url: url("away") });
    const page = await open("admin", `${POSTBACKS.admin}?open=${id}`);
    const unavailable = { error: { code: "unavailable", message: "not now" } };
    await page.route(/postback-deliveries\//, (route) =>
      route.fulfill({ status: 503, json: unavailable }),
    );
    const drawer = page.locator(".drawer");
    await drawer.getByRole("button", { name: "Conversion approved" }).click();
    const notice = drawer.locator(".notice");
    await notice.first().waitFor();
    expect(await notice.first().innerText()).toContain("Not available at the moment");
    await drawer.getByText(/, 1 attempt, answered 503/).waitFor();
    await page.context().close();
    browser.faults.splice(0);
  });

  test("the secret of a webhook is hidden until it is asked for (#39)", async () => {
    const page = await open("admin", "/integrations/webhooks");
    await press(page, "New webhook");
    await field(page, "Name").fill("Secretive");
    await field(page, "Address").fill(url("secretive"));
    await field(page, "offer.created").check();
    await press(page, "Create the webhook");
    // The new record opens by itself.
    const drawer = page.locator(".drawer");
    await drawer.getByRole("button", { name: "Show the secret" }).waitFor();
    expect(await drawer.innerText()).not.toContain("whsec_");
    await press(drawer, "Show the secret");
    await drawer.getByText(/^whsec_/).waitFor();
    await press(drawer, "Hide the secret");
    await drawer.getByText(/^whsec_/).waitFor({ state: "detached" });
    await page.context().close();
  });

  test.each([
    ["admin", true],
    ["partner", false],
  ] as const)(
    "%s inserts macros where the cursor was, and the new postback opens (#39, G125)",
    async (role, hasStaffMacros) => {
      const page = await open(role, POSTBACKS[role]);
      await press(page, "New postback");
      const drawer = page.locator(".drawer");
      const address = field(drawer, "Address");
      await address.fill("https://partner.example/?c=&x=1");
      for (let at = 0; at < "&x=1".length; at += 1) await address.press("ArrowLeft");
      await drawer.getByText("Insert a macro").press("Enter");
      const macros = drawer.getByRole("group", { name: "Macros for Address" });
      await press(macros, "{click_id}");
      await press(macros, "{sub1}");
      expect(await address.inputValue()).toBe("https://partner.example/?c={click_id}{sub1}&x=1");
      expect(await macros.getByRole("button", { name: "{txid}" }).count()).toBe(
        Number(hasStaffMacros),
      );
      await chooseFirst(drawer, "Offer");
      await press(drawer, "Create the postback");
      await drawer.getByText("Nothing was sent yet.").waitFor();
      expect(new URL(page.url()).searchParams.get("open")).toMatch(/^\d+$/);
      await page.context().close();
    },
  );

  test("at 390 px attempts fit, and long words of strangers break (#39)", async () => {
    receiver.answer((response) => response.writeHead(500).end("x".repeat(2_000)));
    const id = await failedPostback("narrow", { url: url(`narrow?long=${"y".repeat(500)}`) });
    const page = await open("admin", `${POSTBACKS.admin}?open=${id}`, 390);
    const attempts = await opened(page.locator(".drawer"), "Conversion approved");
    await attempts.first().waitFor();
    const overflow = "document.querySelector('.drawer .stack').scrollWidth";
    expect(Number(await page.evaluate(overflow))).toBeLessThanOrEqual(390);
    await page.context().close();
  });
});
