import assert from "node:assert";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { atRest, ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";

const program = findChromium();
const THEMES = ["light", "dark"] as const;
const List = z.object({ data: z.array(z.looseObject({ id: z.int() })) });
/** It takes minutes to check and write these, so that a slow browser can stop it, too. */
const MANY = 60_000;
/** By how much what is in the drawer is wider than the drawer. */
const DRAWER_EXCESS = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector(".drawer");
  return scrollWidth - clientWidth;
})()`;
const HOSTILE = "<img src=x onerror=alert(1)>";

describe.skipIf(program === undefined)("imports in the console", () => {
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
  const open = async (
    path: string,
    options: { readonly width?: number; readonly theme?: "light" | "dark" } = {},
  ): Promise<Page> => {
    const page = await browser.page("admin", options);
    await page.goto(browser.base("admin") + path);
    await settled(page);
    return page;
  };
  const drawer = (page: Page): Locator => page.locator(".drawer");
  const press = async (page: Page | Locator, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();
  const choose = async (page: Page, name: string, content: string): Promise<void> =>
    await drawer(page)
      .getByLabel("File", { exact: true })
      .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
  const ended = async (page: Page, words: string): Promise<void> =>
    await drawer(page).getByLabel("This import").getByText(words, { exact: true }).waitFor();

  test("a file is checked, its faults are shown and saved, and then imported without these rows", async () => {
    const page = await open("/partners");
    await press(page, "Import");
    await choose(
      page,
      "lamps.csv",
      "code;name;email\nLAMPS001;Lamps One;\nLAMPS002;Lamps Two;nobody\n;;\n",
    );
    const separator = drawer(page).getByLabel("Cells are separated by");
    await expect.poll(async () => await separator.inputValue()).toBe(";");
    await press(drawer(page), "Check");
    await ended(page, "2 rows: 1 would be created, 1 with faults.");
    const faults = drawer(page).getByLabel("Faults", { exact: true });
    await expect
      .poll(async () => await faults.locator("li").allTextContents())
      .toEqual([expect.stringMatching(/^Row 3 email: /)]);
    const saved = page.waitForEvent("download");
    await press(faults, "Faults as CSV");
    const path = await (await saved).path();
    expect(await readFile(path, "utf8")).toMatch(/^\uFEFF"row","field","message"\r\n"3","email",/);
    expect(await listed("/affiliates?q=Lamps")).toEqual([]);
    await drawer(page).getByLabel("Skip invalid rows").check();
    await press(drawer(page), "Import");
    await ended(page, "2 rows: 1 created, 1 left out.");
    await page.keyboard.press("Escape");
    await page.locator(".panel").getByText("Lamps One").waitFor();
    expect(await listed("/affiliates?q=Lamps")).toMatchObject([{ code: "LAMPS001" }]);
    await page.context().close();
  });

  test("pasted JSON lines change existing offers by their codes", async () => {
    const page = await open("/offers?import=new");
    const [offer] = await listed("/offers?limit=1");
    await drawer(page)
      .getByLabel("Or pasted text")
      .fill(JSON.stringify({ code: offer?.["code"], category: "by import" }));
    const format = drawer(page).getByLabel("Format");
    await expect.poll(async () => await format.inputValue()).toBe("json");
    await drawer(page).getByLabel("Change existing offers, found by their code").check();
    await press(drawer(page), "Import");
    await ended(page, "1 row: 1 changed.");
    expect(await listed("/offers?category=by%20import")).toMatchObject([{ id: offer?.id }]);
    await page.context().close();
  });

  test("an import goes on without its page, is found again after a reload, and is stopped there", async () => {
    const page = await open("/advertisers?import=new");
    const rows = Array.from({ length: MANY }, (_, index) => `Stopped ${index}\n`);
    await choose(page, "many.csv", `name\n${rows.join("")}`);
    await press(drawer(page), "Import");
    await drawer(page).getByLabel("This import").waitFor();
    await page.keyboard.press("Escape");
    await drawer(page).waitFor({ state: "detached" });
    await page.reload();
    await settled(page);
    await press(page, "Import");
    const recent = drawer(page).getByLabel("Recent imports").locator("li", { hasText: "many.csv" });
    await recent.getByRole("button").first().click();
    const shown = drawer(page).getByLabel("This import");
    await press(shown, "Stop");
    await shown.getByText("Stopped", { exact: true }).waitFor();
    await shown.getByText(/^Stopped by /).waitFor();
    const [stopped] = await listed("/imports?kind=advertisers");
    expect(stopped).toMatchObject({ name: "many.csv", status: "stopped" });
    expect(Number(stopped?.["rows_created"])).toBeLessThan(MANY);
    // The address still names it.
    await page.reload();
    await shown.getByText("Stopped", { exact: true }).waitFor();
    await page.context().close();
  });

  test("names of files and fields are text: nothing in them runs, and none is too wide", async () => {
    for (const theme of THEMES) {
      const page = await open("/partners?import=new", { theme });
      const field = `${HOSTILE}${"w".repeat(180)}`;
      const content = JSON.stringify({ name: "A", email: "nobody", [field]: 1 });
      await choose(page, `${HOSTILE.replaceAll(" ", "_")}${"w".repeat(200)}.json`, content);
      await press(drawer(page), "Check");
      await ended(page, "1 row: 1 with faults.");
      await settled(page);
      expect(await drawer(page).textContent()).toContain(HOSTILE);
      expect(await page.locator("img[src=x]").count()).toBe(0);
      expect(await axeFaults(page)).toEqual([]);
      for (const width of [320, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await atRest(page);
        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        expect([width, wide]).toEqual([width, width]);
        const excess = await page.evaluate(DRAWER_EXCESS);
        expect([width, excess]).toEqual([width, 0]);
      }
      await page.context().close();
    }
  });

  test("a wrong file says why it is refused, and one that the API refuses keeps what was chosen", async () => {
    const page = await open("/partners?import=new");
    await choose(page, "wrong.csv", "code,nmae\nA,B\n");
    await press(drawer(page), "Import");
    await drawer(page).getByText('The file has unknown columns: "nmae"').waitFor();
    await page.route("**/api/v1/imports?*", async (route) => {
      if (route.request().method() !== "POST") return await route.continue();
      const error = { code: "conflict", message: "10 imports of this workspace have not ended" };
      await route.fulfill({ status: 409, json: { error } });
    });
    await press(drawer(page), "Import");
    await drawer(page).getByText("10 imports of this workspace have not ended").waitFor();
    expect(await drawer(page).textContent()).toContain("wrong.csv");
    await page.context().close();
  });

  test("an analyst finds no button that imports", async () => {
    const page = await browser.page("analyst");
    for (const path of ["/offers", "/partners", "/advertisers"]) {
      await page.goto(browser.base("analyst") + path);
      await settled(page);
      expect(await page.getByRole("button", { name: "Import" }).count(), path).toBe(0);
    }
    await page.context().close();
  });
});
