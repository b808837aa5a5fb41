import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { type Receiver, startReceiver } from "../../../integration/outgoing/receiver.ts";
import { keepDown } from "../../../system/processes.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";
import { choose, chooseFirst } from "./choose.ts";
import { expectOnce } from "./paced.ts";
import { field, press } from "./people-pages.ts";

const program = findChromium();
/** Budgets of the journeys, of a decision for each record. */
const DECISION_MS = 300;
const FAULTS_MS = 500;
const DELIVERED_MS = 2_000;

const Made = z.object({ data: z.looseObject({ id: z.int(), code: z.string().optional() }) });
const MadeKey = z.object({ data: z.object({ key: z.string() }) });
const Event = z.object({ event: z.string() });

describe.skipIf(program === undefined)("the work of a day in the console", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let receiver: Receiver;

  beforeAll(async () => {
    system = await startSystem({ env: { ALLOW_PRIVATE_DESTINATIONS: "1" } });
    const cookies = await signInRoles(system);
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo, cookies);
    receiver = await startReceiver();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await receiver.close();
    await system[Symbol.asyncDispose]();
  });

  const send = async (
    path: string,
    body: unknown,
    key = browser.demo.keys.admin,
  ): Promise<unknown> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert(answer.ok, `${path}: ${text}`);
    return JSON.parse(text);
  };
  const make = async (path: string, body: unknown): Promise<number> =>
    Made.parse(await send(path, body)).data.id;
  const open = async (path: string, role: Role = "admin"): Promise<Page> => {
    const page = await browser.page(role);
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const eventsOf = (event: string): number =>
    receiver.received.filter(({ body }) => Event.safeParse(JSON.parse(body)).data?.event === event)
      .length;

  test("a manager decides three partners and two requests, and the webhook gets each (journey 8)", async () => {
    await make("/webhooks", {
      name: "Decisions",
      url: `http://127.0.0.1:${receiver.port}/decisions`,
      events: ["affiliate.updated", "access.decided"],
    });
    const offer = await make("/offers", {
      name: "By approval",
      advertiser_id: 1,
      destination_url: "https://shop.example/",
      visibility: "approval",
    });
    for (const at of [1, 2, 3]) await make("/affiliates", { name: `New ${at}`, status: "pending" });
    for (const at of [1, 2]) {
      const id = await make("/affiliates", { name: `Asks ${at}`, code: `ASKING${at}` });
      const grant = { name: "asks", role: "partner", affiliate_id: id };
      const { key } = MadeKey.parse(await send("/keys", grant)).data;
      await send(`/offers/${offer}/access-request`, { message: "Please" }, key);
    }
    const page = await open("/inbox");
    await page.getByRole("link", { name: /^New partners/ }).click();
    await page.getByText("New 3").waitFor();
    await field(page, "All rows").check();
    await expectOnce("three partners approved", DECISION_MS * 3, async () => {
      await press(page, "Approve");
      await page.getByText("New 3").waitFor({ state: "detached" });
    });
    await page.goto(`${browser.base("admin")}/inbox`);
    await settled(page);
    for (const at of [1, 2]) await page.getByLabel(new RegExp(`Select .* ASKING${at}`)).check();
    await field(page, "Note for the staff").fill("No traffic yet");
    await expectOnce("two requests rejected", DECISION_MS * 2, async () => {
      await press(page, "Reject");
      await page.getByText("Asks 2").waitFor({ state: "detached" });
    });
    await until("the webhook has told of each", () => eventsOf("affiliate.updated") >= 3);
    await until("and of the requests", () => eventsOf("access.decided") >= 2);
  });

  test("an offer with events, a cap and access is made by hand; the sixth sale is over the cap (journey 10)", async () => {
    const page = await open("/advertisers?new=1");
    await field(page, "Name").fill("Shop of the journey");
    await review(page);
    await press(page, "Create the advertiser");
    await page.getByRole("heading", { name: "Shop of the journey" }).waitFor();
    await page.goto(`${browser.base("admin")}/offers?new=1`);
    await choose(page, "Advertiser", { sought: "Shop of the journey" });
    await field(page, "Name").fill("Capped");
    await field(page, "Code").fill("CAPPED");
    await field(page, "Destination").fill("https://shop.example/?c={click_id}");
    await press(page, "Continue");
    await field(page, "Payout value").fill("4");
    await review(page);
    await press(page, "Create the offer");
    const part = async (title: string): Promise<void> =>
      await page.locator(".tabs").getByRole("link", { name: title, exact: true }).click();
    await page.getByRole("heading", { name: "Capped" }).waitFor();
    await part("Terms and events");
    for (const code of ["signup", "trial"]) {
      await press(page, "Add an event");
      await field(page, "Code").fill(code);
      await field(page, "Name").fill(`A ${code}`);
      await press(page, "Add the event");
      await page.getByLabel(`Edit ${code}`).waitFor();
    }
    await part("Caps");
    await page.getByLabel("Edit caps").click();
    await page.locator("summary", { hasText: /^Conversions$/ }).click();
    await page
      .getByRole("group", { name: "Conversions", exact: true })
      .getByLabel("Lifetime", { exact: true })
      .fill("5");
    await press(page, "Save caps");
    await page.getByText("0 of 5").waitFor();
    await part("Partners");
    await choose(page, "Partner to give access", { sought: "Anna's blog" });
    await press(page, "Give access");
    await page.getByLabel("Take access from Anna's blog").waitFor();
    // No click of the offer is redirected to it once ingress knows that its cap is reached.
    const clicks: string[] = [];
    for (let at = 1; at <= 6; at += 1) clicks.push(await click());
    for (const [at, id] of clicks.entries()) await convert(id, `order-${at}`);
    await part("Caps");
    await page.reload();
    await page.getByText("5 of 5 (100%)").waitFor();
    await page.goto(`${browser.base("admin")}/conversions?preset=today&status=rejected`);
    const over = page.locator("tbody tr").filter({ hasText: "Cap reached" });
    await over.first().waitFor();
    expect(await over.count()).toBe(1);
  });

  const review = async (page: Page): Promise<void> =>
    await page.getByRole("button", { name: "Review" }).click();

  /** A click of the capped offer. */
  const click = async (): Promise<string> =>
    await until("the offer is known", async () => {
      const link = `${browser.demo.tracking_url}/r/CAPPED/DEMOANNA`;
      const answer = await fetch(link, { redirect: "manual" });
      const location = answer.headers.get("location") ?? "";
      if (!location.startsWith("https://shop.example/?c=")) return undefined;
      return new URL(location).searchParams.get("c") ?? undefined;
    });

  const convert = async (id: string, txid: string): Promise<void> => {
    const { tracking_url: tracking, postback_token: token } = browser.demo;
    const sent = await fetch(`${tracking}/pb?token=${token}&click_id=${id}&txid=${txid}`);
    expect(await sent.text()).toContain('"ok":true');
  };

  test("three faults of one form are told at their fields, and nothing is lost (journey 11)", async () => {
    const page = await open("/offers?new=1");
    await chooseFirst(page, "Advertiser");
    await field(page, "Name").fill("Faulty");
    await field(page, "Code").fill("two words");
    await field(page, "Destination").fill("https://shop.example/?c={clickid}");
    const step = async (title: string): Promise<void> =>
      await page.getByRole("button", { name: title }).click();
    await step("Money and events");
    await field(page, "Payout value").fill("12,50 EUR");
    const fault = (label: string) =>
      page
        .locator(".field")
        .filter({ has: field(page, label) })
        .locator(".fault");
    await step("Review");
    await expectOnce("three faults told", FAULTS_MS, async () => {
      await press(page, "Create the offer");
      await fault("Destination").waitFor();
    });
    await fault("Code").waitFor();
    // The third one is in another step, which is marked.
    await page.getByRole("button", { name: /Money and events.*1 to check/ }).click();
    await fault("Payout value").waitFor();
    await field(page, "Payout value").fill("12.50");
    // A taken code is known only when everything else is right.
    await step("Basics");
    await field(page, "Code").fill("DEMOSHOP");
    await field(page, "Destination").fill("https://shop.example/?c={click_id}");
    await step("Review");
    await press(page, "Create the offer");
    await fault("Code").waitFor();
    expect(await field(page, "Name").inputValue()).toBe("Faulty");
    await step("Money and events");
    expect(await field(page, "Payout value").inputValue()).toBe("12.50");
  });

  test("a failed delivery shows its error, and arrives when the receiver is back (journey 14)", async () => {
    receiver.answer((response) => response.writeHead(503).end("closed for today"));
    const page = await open("/integrations/webhooks");
    await press(page, "New webhook");
    await field(page, "Name").fill("Late");
    await field(page, "Address").fill(`http://127.0.0.1:${receiver.port}/late`);
    await field(page, "conversion.created").check();
    await press(page, "Create the webhook");
    const drawer = page.locator(".drawer");
    await press(drawer, "Show the secret");
    await drawer.getByText(/^whsec_/).waitFor();
    await press(drawer, "Send a sample");
    await drawer.getByText("closed for today").waitFor();
    await drawer.getByText(/answered 503, next at/).waitFor();
    const before = receiver.received.length;
    receiver.answer((response) => response.end());
    await expectOnce("delivered by hand", DELIVERED_MS, async () => {
      await press(drawer, "Retry all now");
      await until("it arrives", () => receiver.received.length > before);
    });
    await drawer.getByText("delivered").first().waitFor();
  });

  test("a partner accepts terms and asks; once approved, the link is there without a reload (journey 17)", async () => {
    const offer = await make("/offers", {
      code: "WITHTERMS",
      name: "With terms",
      advertiser_id: 1,
      destination_url: "https://shop.example/",
      visibility: "approval",
    });
    const admin = await open(`/offers?open=${offer}`);
    await admin.locator(".tabs").getByRole("link", { name: "Partners" }).click();
    await admin.getByLabel("Edit asking for access").click();
    await field(admin, "Terms that partners accept").fill("No coupons.");
    await press(admin, "Save asking for access");
    await admin.getByText("No coupons.").waitFor();
    const partner = await open("/offers?q=WITHTERMS", "partner");
    await press(partner, "Ask for access");
    await press(partner, "Accept the terms");
    await partner.getByText("You have accepted these terms.").waitFor();
    await press(partner.locator(".drawer"), "Ask for access");
    await partner.locator(".drawer").waitFor({ state: "detached" });
    await admin.goto(`${browser.base("admin")}/inbox`);
    await admin.getByLabel("Select WITHTERMS DEMOANNA").check();
    await press(admin, "Approve");
    const link = partner.getByText("/r/WITHTERMS/DEMOANNA");
    await link.waitFor();
    expect(await link.textContent()).toBe(`${browser.demo.tracking_url}/r/WITHTERMS/DEMOANNA`);
  });

  test("while ClickHouse is away records work and reports say so; then they recover (journey 25)", async () => {
    const page = await open("/?preset=last30");
    const startAgain = await keepDown(system, "clickhouse");
    try {
      await page.goto(`${browser.base("admin")}/reports?preset=last7`);
      await page.getByText("Not available at the moment").first().waitFor();
      const other = await open("/offers");
      await other.getByRole("button", { name: "Capped" }).waitFor();
      await other.goto(`${browser.base("admin")}/workspace`);
      await settled(other);
      expect(await other.locator(".notice.bad").count()).toBe(0);
      await other.context().close();
    } finally {
      startAgain();
    }
    await page.locator("tbody tr").first().waitFor();
    browser.forgive(/status of 503/);
  });
});
