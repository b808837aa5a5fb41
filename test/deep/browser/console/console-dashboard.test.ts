import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { rest } from "./console-traffic.ts";
import { timed } from "./paced.ts";

const program = findChromium();
/** Both weeks lie in the month that is filled with clicks. */
const WEEK = "from=2026-10-15&to=2026-10-21";
const SAID_MAX_MS = 2_500;
const SHIFT_MAX = 0.05;

const Report = z.looseObject({ totals: z.looseObject({}), data: z.array(z.looseObject({})) });
const Attention = z.object({ data: z.array(z.object({ count: z.int() })) });

describe.skipIf(program === undefined)("the dashboard and reports answer at a glance", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    await browser.filled();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const tile = (page: Page, label: string) =>
    page.locator(".tile").filter({ has: page.getByText(label, { exact: true }) });
  const open = async (role: Role, path: string): Promise<Page> => {
    const page = await browser.page(role);
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };

  test("tiles and chart compare with the period before, with both values and both ranges", async () => {
    const page = await open("admin", `/?${WEEK}`);
    const { totals } = Report.parse(
      await rest(browser.demo, `/reports?${WEEK}&metrics=clicks&compare=previous`),
    );
    const { clicks, previous } = z
      .looseObject({ clicks: z.int(), previous: z.looseObject({ clicks: z.int() }) })
      .parse(totals);
    const written = (count: number): string => count.toLocaleString("en-US");
    const title = `Oct 15 to Oct 21: ${written(clicks)} · previous Oct 8 to Oct 14: ${written(previous.clicks)}`;
    const clicksTile = tile(page, "Clicks");
    expect(await clicksTile.locator(".value").getAttribute("title")).toBe(title);
    const against = (await clicksTile.locator(".against").textContent()) ?? "";
    expect(against).toMatch(/^(?:[▲▼](?:up|down) [\d.]+%|no change) from /);
    expect(against).toContain(written(previous.clicks));
    const legend = page.locator(".legend").first();
    expect(await legend.locator("li").allTextContents()).toEqual([
      "Oct 15 to Oct 21",
      "Previous: Oct 8 to Oct 14",
    ]);
    expect(await legend.locator("path.compared").count()).toBe(1);
    await page.getByRole("img", { name: /^Clicks: 7 points/ }).focus();
    await page.keyboard.press("ArrowRight");
    const reading = page.locator(".reading");
    await reading.getByText(/^Oct 21: [\d,]+$/).waitFor();
    await reading.getByText(/^previous Oct 14: [\d,]+$/).waitFor();
    await page.context().close();
  });

  test("a comparison that was switched off stays off, also at an address that does not name it", async () => {
    const page = await open("admin", `/?${WEEK}`);
    const choice = page.getByLabel("Compared with");
    expect(await choice.inputValue()).toBe("previous");
    await choice.selectOption("");
    await page.waitForURL(/compare=none/);
    await settled(page);
    expect(await page.locator(".tile .change, path.compared").count()).toBe(0);
    await page.goto(`${browser.base("admin")}/?${WEEK}`);
    await settled(page);
    expect(await choice.inputValue()).toBe("");
    // An address that names it is stronger than what is remembered.
    await page.goto(`${browser.base("admin")}/?${WEEK}&compare=previous`);
    await settled(page);
    expect(await page.locator("path.compared").count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test("a report compares with the period before, until somebody switches that off here or on the dashboard", async () => {
    const query = `${WEEK}&group_by=country&metrics=clicks`;
    const page = await open("admin", `/reports?${query}`);
    const choice = page.getByLabel("Compared with");
    const { data, totals } = Report.parse(
      await rest(browser.demo, `/reports?${query}&sort=-clicks&compare=previous`),
    );
    const against = page.locator("tbody .against");
    expect(await against.count()).toBe(data.length + 1);
    const { clicks } = z.looseObject({ clicks: z.int() }).parse(totals["previous"]);
    expect(await page.locator(".totals .against").textContent()).toMatch(
      new RegExp(`^[▲▼].* from ${clicks.toLocaleString("en-US")}$`),
    );
    await page.getByText("Oct 15 to Oct 21 · compared with Oct 8 to Oct 14").waitFor();
    await choice.selectOption("");
    await page.waitForURL(/compare=none/);
    await settled(page);
    expect(await against.count()).toBe(0);
    for (const path of [`/reports?${query}`, `/?${WEEK}`]) {
      await page.goto(browser.base("admin") + path);
      await settled(page);
      expect(await choice.inputValue()).toBe("");
    }
    await page.context().close();
  });

  test("a copied link compares with what its owner saw, also where his own address does not say it", async () => {
    const page = await open("admin", `/reports?${WEEK}&group_by=country&metrics=clicks`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = new URL(await page.evaluate<string>("navigator.clipboard.readText()"));
    expect(link.searchParams.get("compare")).toBe("previous");
    await page.getByLabel("Compared with").selectOption("");
    await page.waitForURL(/compare=none/);
    await page.goto(link.href);
    await settled(page);
    expect(await page.locator("tbody .against").count()).toBeGreaterThan(1);
    await page.context().close();
  });

  test.each(["/", "/reports"])(
    "reports that are away are told once on %s and soon, and come back by themselves (D15)",
    async (screen) => {
      const page = await browser.page("admin");
      let isAway = true;
      const refused: string[] = [];
      await page.route(/\/api\/v1\/reports/, async (route) => {
        if (!isAway) return await route.continue();
        refused.push(route.request().url());
        const error = { code: "unavailable", message: "Reports are not available at the moment." };
        return await route.fulfill({ status: 503, json: { error } });
      });
      const asked = page.waitForResponse((answer) => answer.status() === 503);
      await Promise.all([asked, page.goto(`${browser.base("admin")}${screen}?${WEEK}`)]);
      const banner = page.locator(".banner");
      const ms = await timed(() => banner.waitFor());
      expect(ms).toBeLessThan(SAID_MAX_MS);
      // The names of the fields are given up, too.
      await page.locator(".no-figures").first().waitFor();
      expect(refused.some((url) => url.includes("/reports/metrics"))).toBe(true);
      expect(await page.getByText("Reports are not available").count()).toBe(1);
      expect(await page.locator(".notice.bad").count()).toBe(0);
      isAway = false;
      await banner.waitFor({ state: "detached" });
      await settled(page);
      await page.locator(".plot .series").first().waitFor();
      expect(await page.locator(".no-figures").count()).toBe(0);
      browser.forgive(/status of 503/);
      await page.context().close();
    },
  );

  test.each([1_440, 390])(
    "nothing jumps while the dashboard loads, %i px wide (D19)",
    async (width) => {
      const page = await browser.page("admin", { width });
      await page.addInitScript(`(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          if (!entry.hadRecentInput)
            window.shifts.push({
              value: entry.value,
              moved: entry.sources.map(({ node }) => node?.className ?? node?.parentElement?.className ?? node?.nodeName),
            });
      }).observe({ type: "layout-shift", buffered: true });
    })()`);
      const Shifts = z.array(z.object({ value: z.number(), moved: z.array(z.unknown()) }));
      for (const visit of ["cold", "warm"]) {
        if (visit === "cold") await page.goto(`${browser.base("admin")}/?${WEEK}`);
        else await page.reload();
        await page.locator(".plot .series").first().waitFor();
        await settled(page);
        const shifts = Shifts.parse(await page.evaluate("window.shifts"));
        const sum = shifts.reduce((total, { value }) => total + value, 0);
        expect(sum, `${visit}: ${JSON.stringify(shifts)}`).toBeLessThan(SHIFT_MAX);
      }
      await page.context().close();
    },
  );

  test.each([390, 820, 1_280, 1_440, 1_920])(
    "the tiles fill their rows, and the chart stands above the funnel, %i px wide",
    async (width) => {
      const page = await browser.page("admin", { width });
      await page.goto(`${browser.base("admin")}/?${WEEK}`);
      await settled(page);
      const Boxes = z.array(z.object({ top: z.number(), right: z.number() }));
      const boxes = Boxes.parse(
        await page.evaluate(`[...document.querySelectorAll(".tiles .tile")].map((one) => {
          const { top, right } = one.getBoundingClientRect();
          return { top: Math.round(top), right: Math.round(right) };
        })`),
      );
      const ends = new Map<number, number>();
      for (const { top, right } of boxes) ends.set(top, Math.max(right, ends.get(top) ?? 0));
      expect(new Set(ends.values()).size, JSON.stringify([...ends])).toBe(1);
      const topOf = async (name: string | RegExp): Promise<number> =>
        (
          await page
            .getByRole("img", { name })
            .or(page.getByRole("region", { name }))
            .first()
            .boundingBox()
        )?.y ?? 0;
      expect(await topOf(/points, arrow keys/)).toBeLessThan(
        await topOf("From visit to conversion"),
      );
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      await page.context().close();
    },
  );

  test("what waits for a decision has its count in the navigation and its way on the dashboard", async () => {
    const page = await browser.page("admin");
    // Other files use the same workspace: what counts is the answer that the page shows.
    const answered = page.waitForResponse(/\/api\/v1\/attention$/);
    await page.goto(`${browser.base("admin")}/`);
    const { data } = Attention.parse(await (await answered).json());
    await settled(page);
    const panel = page.getByRole("region", { name: "Waiting for a decision" });
    expect(await panel.locator("li a").count()).toBe(data.length);
    await page.route("**/api/v1/attention", async (route) => {
      const waiting = { kind: "pending_affiliates", count: 7, is_whole: true };
      const query = { status: "pending" };
      const json = { data: [{ ...waiting, path: "/affiliates", query }] };
      await route.fulfill({ json });
    });
    await page.reload();
    await settled(page);
    const badge = page.getByRole("link", { name: "Inbox 7 waiting" });
    expect(await badge.count()).toBe(1);
    await panel.getByRole("link", { name: /New partners/ }).click();
    await page.waitForURL(/\/partners\?status=pending/);
    await page.context().close();
  });

  test("the offers and partners that changed most lead to their days", async () => {
    const page = await open("admin", `/?${WEEK}`);
    const panel = page.locator(".panel", { hasText: "Largest changes by partner" });
    const first = panel.locator("li").first();
    expect(await first.textContent()).toMatch(/from [\d,]+/);
    await first.getByRole("link").click();
    await page.waitForURL(/\/reports\?.*group_by=date.*filters=affiliate/);
    await page.context().close();
  });

  test("a report shows few metrics, its chart by its rows, and two buttons that say what they copy", async () => {
    const query = `${WEEK}&group_by=country&compare=previous`;
    const page = await open("admin", `/reports?${query}`);
    expect(await page.locator("th.number").count()).toBe(8);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(1_440);
    expect(page.url()).not.toContain("metrics=");
    for (const name of ["Copy link", "Copy as curl"]) {
      const label = page.getByRole("button", { name }).locator("span");
      expect((await label.boundingBox())?.height).toBeGreaterThan(8);
    }
    const { data } = Report.parse(
      await rest(browser.demo, `/reports?${query}&metrics=clicks&sort=-clicks`),
    );
    expect(data.length).toBeGreaterThan(5);
    const legend = await page.locator(".legend li").allTextContents();
    const named = await page.locator("tbody tr:not(.totals) td:first-child").allTextContents();
    expect(legend).toEqual([...named.slice(0, 5), "Others"]);
    const dashes = await page.evaluate(
      `[...document.querySelectorAll(".plot path.series")].map((path) => path.getAttribute("stroke-dasharray"))`,
    );
    expect(new Set(z.array(z.string().nullable()).parse(dashes)).size).toBe(6);
    // The first day of the plot: its lines together are all clicks of the day.
    await page.getByRole("button", { name: "Table" }).click();
    const cells = await page
      .locator("[aria-label='The same figures as a table'] tbody tr")
      .first()
      .locator("td")
      .allTextContents();
    const sum = cells.slice(1).reduce((total, cell) => total + Number(cell.replaceAll(",", "")), 0);
    const day = Report.parse(
      await rest(browser.demo, "/reports?from=2026-10-15&to=2026-10-15&metrics=clicks"),
    );
    expect(sum).toBe(day.totals["clicks"]);
    await page.context().close();
  });

  test("a CTR without impressions is a dash with its reason, in rows and in the total (D13)", async () => {
    const page = await browser.page("admin");
    await patchReports(page, (body) => {
      body.totals["ctr"] = 2.2759;
      for (const [at, row] of body.data.entries()) row["ctr"] = at === 0 ? 0.5 : null;
    });
    await page.goto(
      `${browser.base("admin")}/reports?${WEEK}&group_by=country&metrics=ctr,clicks&chart=none`,
    );
    await settled(page);
    const cellOf = (row: string) => page.locator(`tbody tr${row} td`).nth(1);
    expect(await cellOf(".totals").textContent()).toMatch(/^– \(More clicks than impressions/);
    expect(await page.locator("tbody").textContent()).not.toContain("227");
    expect(
      await page.locator("th", { hasText: "CTR" }).locator("[title]").getAttribute("title"),
    ).toBe("Clicks for each impression.");
    const titles = page.locator("tbody [title='No impressions were counted']");
    expect(await titles.count()).toBeGreaterThan(0);
    expect(await page.locator("tbody").textContent()).toContain("50%");
    await page.context().close();
  });

  test("money in another currency is shown as what it is, and a missing rate says where it is set (D9)", async () => {
    for (const role of ["admin", "analyst"] as const) {
      const page = await browser.page(role);
      await patchReports(page, (body, url) => {
        body["other_currencies"] = ["EUR"];
        if (url.searchParams.get("convert") === "1")
          body["conversion"] = { basis: "daily", unconverted: ["EUR"] };
        const isInEur = (url.searchParams.get("group_by") ?? "").includes("currency");
        for (const row of [body.totals, ...body.data]) {
          if (isInEur) row["currency"] = "EUR";
          if ("revenue" in row) row["revenue"] = isInEur ? "12.0000" : "0.0000";
          if ("epc" in row) row["epc"] = null;
        }
      });
      await page.goto(`${browser.base(role)}/?${WEEK}`);
      await settled(page);
      await tile(page, "Revenue").getByText("€12.00").waitFor();
      expect(await tile(page, "EPC").textContent()).toContain("Offers in EUR are left out");
      const note = page.getByRole("note");
      expect(await note.textContent()).toContain("Totals are in USD and leave out EUR.");
      expect((await note.boundingBox())?.height).toBeLessThan(30);
      await note.getByRole("button", { name: "Convert into USD" }).click();
      await note.getByText("There is no rate from EUR to USD").waitFor();
      const link = note.getByRole("link", { name: "Set a rate in Costs and FX" });
      if (role === "analyst")
        await note.getByText(/An admin of the workspace can set it/).waitFor();
      else {
        await link.click();
        await page.waitForURL(/\/costs\?of=rates/);
      }
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().close();
    }
  });
});

type Body = {
  totals: Record<string, unknown>;
  data: Record<string, unknown>[];
  [name: string]: unknown;
};

/** Changes the answers of reports, because the demo has one currency and no impressions. */
async function patchReports(page: Page, change: (body: Body, url: URL) => void): Promise<void> {
  await page.route("**/api/v1/reports?**", async (route) => {
    const response = await route.fetch();
    const body: Body = Report.parse(await response.json());
    change(body, new URL(route.request().url()));
    await route.fulfill({ response, json: body });
  });
}
