import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { RecordWorld } from "./record-world.ts";

const program = findChromium();
/** What waits is read again so often. */
const REFRESH_MS = 30_000;

const MadeKey = z.object({ data: z.object({ key: z.string() }) });

describe.skipIf(program === undefined)("what waits for the staff", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const send = async (
    path: string,
    body: object,
    key = browser.demo.keys.admin,
  ): Promise<unknown> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201, path);
    return await answer.json();
  };

  test("a new request shows within half a minute, in the navigation and in the inbox, without a reload", async () => {
    const offer = await world.makeOffer({ name: "Asked for", visibility: "approval" });
    const partner = await world.make("/affiliates", { name: "Asks while you look" });
    const grant = { name: "asks", role: "partner", affiliate_id: partner };
    const { key } = MadeKey.parse(await send("/keys", grant)).data;
    const page = await browser.page("admin");
    await page.clock.install();
    await page.goto(`${browser.base("admin")}/inbox`);
    await page.getByRole("heading", { name: "Requests for access" }).waitFor();
    const row = page.locator("main tbody tr").filter({ hasText: "Asks while you look" });
    const tile = page
      .locator("main .tile")
      .filter({ hasText: /access/i })
      .locator(".value");
    const count = async (): Promise<number> =>
      (await tile.count()) === 0 ? 0 : Number((await tile.textContent())?.replaceAll(",", ""));
    const before = await count();
    const loads: string[] = [];
    page.on("framenavigated", (frame) => loads.push(frame.url()));
    await send(`/offers/${offer}/access-request`, { message: "Now" }, key);
    expect(await row.count()).toBe(0);
    await page.clock.fastForward(REFRESH_MS);
    // Other files use the same workspace.
    await expect.poll(count).toBeGreaterThan(before);
    await row.waitFor();
    const badge = page.locator("nav .count-badge").first();
    expect(
      Number.parseInt((await badge.textContent())?.replaceAll(",", "") ?? "0", 10),
    ).toBeGreaterThan(0);
    expect(loads).toEqual([]);
    await page.context().close();
  });
});
