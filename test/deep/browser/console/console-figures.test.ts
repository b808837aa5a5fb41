import assert from "node:assert";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  readAnswers,
  settled,
} from "../../../browser/console/console-browser.ts";
import { OFFER, PARTNER } from "../../../browser/shop-seed.ts";
import { BETWEEN, dayChart, endQuickly, readDays } from "./chart-drag.ts";
import { choose } from "./choose.ts";
import { click, rest, sendTraffic } from "./console-traffic.ts";
import { expectOnce, expectPace, timed } from "./paced.ts";

const program = findChromium();
/** The month that is filled with clicks. */
const OCTOBER = "from=2026-10-01&to=2026-10-31";
const FORMULA = "=1+1";

const Cells = z.looseObject({});
const Report = z.object({
  totals: Cells,
  data: z.array(Cells),
  currency: z.string(),
  total_rows: z.int(),
});

describe.skipIf(program === undefined)("people read figures in the console", () => {
  let browser: ConsoleBrowser;
  let days: string;
  let wide: string;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    const clicks = await browser.filled();
    const perDay = clicks / 31;
    // More than one file holds, and not more than a report can sort.
    wide = clicks > 1_000_000 ? "affiliate,sub2" : "affiliate,sub2,city";
    // As many days as make about 200,000 rows, however large the month is.
    const to = Math.max(1, Math.min(31, Math.floor(250_000 / perDay)));
    days = `from=2026-10-01&to=2026-10-${String(to).padStart(2, "0")}`;
    await sendTraffic(browser.demo, FORMULA, 2);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const report = async (query: string, key?: string): Promise<z.infer<typeof Report>> =>
    Report.parse(await rest(browser.demo, `/reports?${query}`, key));
  const tile = (page: Page, label: string) =>
    page.locator(".tile").filter({ has: page.getByText(label, { exact: true }) });
  const figureOf = async (page: Page, label: string): Promise<string> =>
    (await tile(page, label).locator(".value").textContent()) ?? "";
  const shown = async (page: Page): Promise<void> => {
    await page.locator(".tile .value").filter({ hasText: /\d/ }).first().waitFor();
    await page.locator(".plot .series").first().waitFor();
  };
  const open = async (role: Role, path: string): Promise<Page> => {
    const page = await browser.page(role);
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };

  test("an admin sees the figures of a month soon after a cold start, and they answer (journey 2)", async () => {
    await expectPace("cold dashboard", 1_500, async () => {
      const page = await browser.page("admin");
      const ms = await timed(async () => {
        await page.goto(`${browser.base("admin")}/?${OCTOBER}`);
        await shown(page);
      });
      await tile(page, "Conversions").click();
      await expect
        .poll(async () => await tile(page, "Conversions").getAttribute("aria-pressed"))
        .toBe("true");
      await page.context().close();
      return ms;
    });
  });

  test("after a change of range each tile is the total of the report, digit by digit (journey 3)", async () => {
    const page = await open("admin", `/?${OCTOBER}`);
    await expectPace("other range, compared", 1_000, async (round) => {
      const from = `2026-10-${String(round + 2).padStart(2, "0")}`;
      const query = `from=${from}&to=2026-10-31&compare=previous`;
      await page.goto(`${browser.base("admin")}/?from=${from}&to=2026-10-31&compare=none`);
      await shown(page);
      const ms = await timed(async () => {
        await page.getByLabel("Compared with").selectOption("previous");
        await page.waitForURL(/compare=previous/);
        await page.locator(".tile .change").first().waitFor();
        await page.locator(".is-updating").first().waitFor({ state: "detached" });
      });
      const { totals, currency } = await report(
        `${query}&metrics=clicks,conversions,revenue,payout,profit`,
      );
      for (const [name, label] of Object.entries(TILES)) {
        const exact = String(totals[name]);
        await expect
          .poll(async () => [name, await figureOf(page, label)])
          .toEqual([name, written(exact, currency)]);
      }
      return ms;
    });
  });

  test("a drag across days of the chart opens their range", async () => {
    const page = await open("admin", `/?${OCTOBER}`);
    const { chart, at } = await dayChart(page);
    await chart.dragTo(chart, { sourcePosition: at(0.3), targetPosition: at(0.6), steps: 5 });
    expect(await readDays(page)).toEqual(BETWEEN);
    await page.context().close();
  });

  test("a drag whose last move is not drawn before the release opens the range up to it", async () => {
    const page = await open("admin", `/?${OCTOBER}`);
    const { chart, at, box } = await dayChart(page);
    await chart.hover({ position: at(0.3) });
    await page.mouse.down();
    await endQuickly(page, { x: box.x + at(0.6).x, y: box.y + at(0.6).y });
    expect(await readDays(page)).toEqual(BETWEEN);
    await page.context().close();
  });

  test("the top country of the map leads to its report, and a figure of it to its rows (journey 4)", async () => {
    const { data } = await report(
      `${OCTOBER}&group_by=country&metrics=clicks&sort=-clicks&limit=1`,
    );
    const top = String(data[0]?.["country"]);
    const page = await browser.page("admin");
    const map = page.getByRole("img", { name: /by country: \d+ countries/ });
    await expectPace("map to report", 1_000, async () => {
      await page.goto(`${browser.base("admin")}/?${OCTOBER}`);
      await map.waitFor();
      await settled(page);
      return await timed(async () => {
        await map.focus();
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        await page.waitForURL(new RegExp(`/reports.*country%3Ain%3A${top}`));
        await page.locator(".totals .cell-link").first().waitFor();
      });
    });
    await expectPace("figure to rows", 1_000, async () => {
      await page.goto(
        `${browser.base("admin")}/reports?${OCTOBER}&filters=country:in:${top}&group_by=date&metrics=clicks`,
      );
      const link = page.locator(".totals .cell-link").first();
      await link.waitFor();
      await settled(page);
      return await timed(async () => {
        await link.click();
        await page.getByRole("heading", { name: "Clicks", level: 1 }).waitFor();
        await page.locator("tbody tr").first().waitFor();
      });
    });
  });

  test("a copied address shows a colleague the same rows in the same order (journey 5)", async () => {
    const query = `${OCTOBER}&group_by=offer,affiliate,country`;
    const page = await open("analyst", `/reports?${query}&metrics=clicks,conversions,profit`);
    await page.locator("th button", { hasText: "Profit" }).click();
    await page.waitForURL(/sort=-profit/);
    await settled(page);
    const rows = page.locator("tbody tr:not(.totals)");
    const own = await rows.allTextContents();
    expect(own.length).toBe(100);
    const other = await browser.page("admin");
    await expectPace("three dimensions by address", 1_200, async () => {
      const ms = await timed(async () => {
        await other.goto(page.url());
        await other.locator("tbody tr").nth(100).waitFor();
      });
      await expect
        .poll(async () => await other.locator("tbody tr:not(.totals)").allTextContents())
        .toEqual(own);
      return ms;
    });
  });

  test("each row of a report has its days as a small line, as the report by day has them", async () => {
    const query = `${OCTOBER}&metrics=clicks&filters=country:in:DE|FR|US`;
    const page = await open("analyst", `/reports?${query}&group_by=country&chart=none`);
    const lines = page.locator("tbody .sparkline path");
    await lines.nth(2).waitFor();
    await settled(page);
    const { data: rows } = await report(`${query}&group_by=country&sort=-clicks`);
    const { data } = await report(`${query}&group_by=country,date&sort=date&limit=1000`);
    const drawn = await Promise.all((await lines.all()).map((path) => path.getAttribute("d")));
    const heights = (path: string | null): number[] =>
      [...(path ?? "").matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y));
    for (const [at, { country }] of rows.entries()) {
      const clicks = data
        .filter((row) => row["country"] === country)
        .map((row) => Number(row["clicks"]));
      expect(clicks.length).toBe(31);
      const highest = Math.max(...clicks);
      const expected = clicks.map((count) => 20 - (count / highest) * 18);
      const drawnAt = heights(drawn[at] ?? null);
      expect(drawnAt.length).toBe(31);
      const off = drawnAt.map((y, day) => Math.abs(y - (expected[day] ?? 0)));
      expect(Math.max(...off)).toBeLessThan(0.01);
    }
    expect(rows.length).toBe(3);
  });

  test("a drawer has the charts of its record, and a mark opens the report of it", async () => {
    const filter = "offer:in:1";
    const month = "preset=last30";
    const totalNow = async (): Promise<string> =>
      String((await report(`${month}&metrics=clicks&filters=${filter}`)).totals["clicks"]);
    const page = await browser.page("admin");
    const figures = page.getByRole("region", { name: "Figures of the last 30 days" });
    const clicks = figures.locator(".funnel li").filter({ hasText: /^Clicks/ });
    // Other files send clicks of this offer, so its totals before and after must be the same.
    await expect
      .poll(async () => {
        const before = await totalNow();
        await page.goto(`${browser.base("admin")}/offers/1`);
        await figures
          .getByRole("img", { name: /Clicks/ })
          .first()
          .waitFor();
        await figures.getByRole("button", { name: "Funnel" }).click();
        const drawn = (await clicks.locator("strong").textContent())?.replaceAll(",", "");
        return [drawn, await totalNow()].every((total) => total === before);
      })
      .toBe(true);
    await figures.getByRole("button", { name: "Time to convert" }).click();
    await figures.getByRole("img", { name: /day of the click and delay/ }).waitFor();
    await figures.getByRole("button", { name: "Heatmap" }).click();
    await figures.getByRole("img", { name: /by weekday and hour/ }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/reports\?.*offer%3Ain%3A1%2Cweekday%3Ain%3A7%2Chour_of_day%3Ain%3A23/);
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
  });

  test("an export counts its rows, can be cancelled, and ends with the totals; a formula is text (journey 6)", async () => {
    const query = `${days}&group_by=affiliate,sub2&metrics=clicks`;
    const { total_rows: rows, totals } = await report(`${query}&limit=1`);
    expect(rows).toBeGreaterThan(50_000);
    expect(rows).toBeLessThanOrEqual(200_000);
    const page = await open("analyst", `/reports?${query}&compare=none&chart=none`);
    const button = page.getByRole("button", { name: "CSV" });
    await button.click();
    await page.getByRole("progressbar").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled, nothing was saved").waitFor();
    const saved = page.waitForEvent("download");
    await expectOnce(`export of ${rows} rows`, 15_000, async () => {
      await button.click();
      await saved;
    });
    const lines = (await readFile(await (await saved).path(), "utf8")).trimEnd().split(/\r?\n/);
    // The last line may name currencies that are left out.
    const table = lines.filter((line) => !/^"?Note:/.test(line));
    expect(table.length).toBe(rows + 2);
    expect(table.at(-1)).toMatch(new RegExp(`^"?Totals"?,.*,${String(totals["clicks"])}$`));
    await page.getByText(`Saved ${rows.toLocaleString("en-US")} of`).waitFor();
    const small = await open(
      "analyst",
      "/reports?preset=today&compare=none&group_by=sub1&metrics=clicks&chart=none",
    );
    const file = small.waitForEvent("download");
    await small.getByRole("button", { name: "CSV" }).click();
    const text = await readFile(await (await file).path(), "utf8");
    expect(text).toContain(`'${FORMULA}`);
    expect(text).not.toMatch(/(?:^|,)"?=/m);
  });

  test("a report that is too long for one file is offered by months (journey 6)", async () => {
    const query = `from=2026-09-15&to=2026-10-31&group_by=${wide}&metrics=clicks&chart=none`;
    const { total_rows: rows } = await report(`${query.replace("&chart=none", "")}&limit=1`);
    assert(rows > 200_000, `the month is filled with enough rows: ${rows}`);
    const page = await open("analyst", `/reports?${query}&compare=none`);
    await page.getByRole("button", { name: "CSV by month" }).click();
    const months = page.locator(".drawer li");
    await expect
      .poll(async () => (await months.allTextContents()).map((text) => text.slice(0, 8)))
      .toEqual(["Oct 2026", "Sep 2026"]);
    const saved = page.waitForEvent("download");
    await months.last().getByRole("button", { name: "CSV" }).click();
    expect((await saved).suggestedFilename()).toBe("reports-2026-09.csv");
  });

  test("the live tail shows a click that somebody makes meanwhile (journey 13)", async () => {
    const page = await open("admin", "/clicks?preset=today");
    await page.getByLabel("Live").check();
    await expectPace("click to live tail", 5_000, async (round) => {
      const sub1 = `live ${round}`;
      return await timed(async () => {
        await click(browser.demo, { sub1, address: "8.8.8.8" });
        await page.locator("tbody tr").filter({ hasText: sub1 }).first().waitFor();
      });
    });
  });

  test("the earnings of a partner are those of the admin's report of this partner (journey 16)", async () => {
    const { totals, currency } = await report(
      `${OCTOBER}&metrics=payout&filters=affiliate:in:${PARTNER}`,
    );
    await expectPace("home of a partner", 1_200, async () => {
      const page = await browser.page("partner");
      const ms = await timed(async () => {
        await page.goto(`${browser.base("partner")}/?${OCTOBER}`);
        await shown(page);
      });
      await expect
        .poll(async () => await figureOf(page, "Earnings"))
        .toBe(written(String(totals["payout"]), currency));
      await page.context().close();
      return ms;
    });
  });

  test("a partner makes a link with its own value, follows it, and finds the click (journey 18)", async () => {
    const page = await open("partner", "/links");
    await choose(page, "Offer", { sought: OFFER });
    const sub1 = "my banner";
    await page.getByLabel("Sub 1", { exact: true }).fill(sub1);
    const link = page.locator("code").filter({ hasText: "sub1=my" });
    const url = (await link.textContent()) ?? "";
    await expectOnce("link to click list", 3_000, async () => {
      const answer = await fetch(url, { redirect: "manual" });
      expect(answer.status).toBe(302);
      await page.goto(
        `${browser.base("partner")}/clicks?preset=today&sub1=${encodeURIComponent(sub1)}`,
      );
      while ((await page.locator("tbody tr").count()) === 0) {
        await page.reload();
        await settled(page);
      }
    });
  });

  test("an advertiser sees its cost and sales, and nothing of partners, CSV included (journey 20)", async () => {
    const { totals, currency } = await report(
      `${OCTOBER}&metrics=revenue`,
      browser.demo.keys.advertiser,
    );
    const page = await browser.page("advertiser");
    const answers: string[] = [];
    // The browser keeps no text of a file that it saves: the test reads the file.
    const read = readAnswers(
      page,
      (answer) =>
        answer.url().includes("/api/v1/") &&
        answer.headers()["content-type"]?.startsWith("application/json") === true,
    );
    await expectPace("home of an advertiser", 1_200, async () => {
      const ms = await timed(async () => {
        await page.goto(`${browser.base("advertiser")}/?${OCTOBER}`);
        await shown(page);
      });
      // A page that is left takes the texts of its answers with it.
      await settled(page);
      answers.push(...(await read()).map(({ text }) => text));
      return ms;
    });
    const money = written(String(totals["revenue"]), currency);
    await expect
      .poll(async () => await page.locator(".tile .value").allTextContents())
      .toContain(money);
    for (const path of ["/reports?preset=today&group_by=offer", "/conversions?preset=today"]) {
      await page.goto(browser.base("advertiser") + path);
      await settled(page);
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      answers.push(await readFile(await (await saved).path(), "utf8"));
      answers.push(await page.content(), ...(await read()).map(({ text }) => text));
    }
    expect(answers.length).toBeGreaterThan(10);
    const all = answers.join("\n");
    for (const secret of ["DEMOANNA", "payout", "Payout", "sub1", FORMULA, "affiliate_name"])
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
  });
});

const TILES = {
  clicks: "Clicks",
  conversions: "Conversions",
  revenue: "Revenue",
  payout: "Payout",
  profit: "Profit",
} as const;

/** A total as a tile shows it, in coins, written here from its digits alone. */
function written(exact: string, currency: string): string {
  const [whole = "", fraction] = exact.replace("-", "").split(".");
  const coins = String((BigInt(whole + (fraction ?? "").padEnd(4, "0")) + 50n) / 100n);
  const units = fraction === undefined ? whole : coins.padStart(3, "0").slice(0, -2);
  const grouped = units.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  const money = `${currency === "USD" ? "$" : "€"}${grouped}.${coins.slice(-2)}`;
  return `${exact.startsWith("-") ? "-" : ""}${fraction === undefined ? grouped : money}`;
}
