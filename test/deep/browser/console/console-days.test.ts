import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { field, press, RecordWorld } from "./record-world.ts";

const program = findChromium();

describe.skipIf(program === undefined)("filters by a day", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test("a chosen day filters at once, under the API's name in address and request, and is taken away", async () => {
    const page = await world.open("/money/statements");
    for (const [label, name] of [
      ["Ends from", "from"],
      ["Ends until", "to"],
      ["Due until", "due_until"],
    ] as const) {
      expect(await field(page, label).getAttribute("type")).toBe("date");
      const asked = page.waitForRequest((request) => request.url().includes(`${name}=2026-11-03`));
      await field(page, label).fill("2026-11-03");
      await asked;
      await expect.poll(() => new URL(page.url()).searchParams.get(name)).toBe("2026-11-03");
    }
    await page.getByText("Days in UTC", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.reload();
    await settled(page);
    expect(await field(page, "Due until").inputValue()).toBe("2026-11-03");
    await field(page, "Due until").fill("");
    await expect.poll(() => new URL(page.url()).searchParams.has("due_until")).toBe(false);
    await page.goBack();
    await expect.poll(() => field(page, "Due until").inputValue()).toBe("2026-11-03");
    await page.context().close();
  });

  test("a day is typed by keys without losing the field, and a part of a day is no filter", async () => {
    const page = await world.open("/costs");
    await field(page, "From").focus();
    await page.keyboard.type("1103");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Shift+Tab");
    await field(page, "From").blur();
    await page.getByText("Choose a whole day", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.has("from")).toBe(false);
    await field(page, "From").focus();
    await page.keyboard.type("11032026");
    await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe("2026-11-03");
    expect(await page.locator(":focus").getAttribute("type")).toBe("date");
    expect(await page.getByText("Choose a whole day").count()).toBe(0);
    await page.context().close();
  });

  test("a day of the address that is none, or lies before the first, is named and can be removed", async () => {
    const page = await world.open("/costs?from=soon&to=2026-11-03");
    await page.getByText("“soon” is no day", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await press(page, "Remove From");
    await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe(null);
    await page.getByText("“soon” is no day").waitFor({ state: "detached" });
    await field(page, "From").fill("2026-11-04");
    await page.getByText("This day is before the first", { exact: true }).waitFor();
    await field(page, "Until").fill("2026-11-05");
    await page.getByText("This day is before the first").waitFor({ state: "detached" });
    const narrow = await world.open("/money/statements?from=soon", "admin", 390);
    const wide = Number(await narrow.evaluate("document.documentElement.scrollWidth"));
    expect(wide).toBe(390);
    await narrow.context().close();
    await page.context().close();
  });
});
