import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { settled } from "../../../browser/console/console-browser.ts";
import { screenFaults } from "../../../browser/console/screen-faults.ts";
import { choose } from "./choose.ts";
import { enterResults, firstDayOfLastMonth, MoneyWorld, readTable, wireTo } from "./money-world.ts";
import { invite, join, PeoplePages } from "./people-pages.ts";
import { press } from "./record-world.ts";

const program = findChromium();
const WIDTHS = [1440, 900, 390];
/** Titles of one and of two lines end at the same height. */
const TITLE_ALIGNMENTS = `[...new Set([...document.querySelectorAll("th")]
  .map((cell) => getComputedStyle(cell).verticalAlign))].join()`;
const Closed = z.object({ statements: z.array(z.object({ id: z.int(), status: z.string() })) });
const Runs = z.array(z.looseObject({ id: z.int(), status: z.string() }));
const Lines = z.object({
  lines: z.array(z.looseObject({ affiliate_name: z.string(), reference: z.string() })),
});

describe.skipIf(program === undefined)("a payout run, step by step", () => {
  let world: MoneyWorld;
  let page: Page;
  let second: Page;
  let run = "";

  beforeAll(async () => {
    world = await MoneyWorld.open(program ?? "");
    await prepare();
    page = await world.browser.page("admin");
    const people = new PeoplePages(world.browser);
    second = await people.open();
    const base = world.browser.base("admin");
    const link = await invite(page, base, { email: "second@network.example", role: "admin" });
    await join(second, link, "Second admin");
  });
  afterEach(() => assert.deepEqual(world.browser.faults.splice(0), []));
  afterAll(() => world.close());

  /** Approved statements of the last month, of partners who can be paid and of one that cannot. */
  const prepare = async (): Promise<void> => {
    await world.call("PATCH", "/billing-settings", {
      enabled: true,
      starts_on: firstDayOfLastMonth(),
      approval: "four_eyes",
      payment_change_hold_hours: 0,
      legal: { name: "Network Ltd", iban: "NL91ABNA0417164300" },
    });
    const terms = { payment_terms: "monthly", currency: "EUR" };
    const partners = [
      ["Good", "1840.5533", terms, wireTo("Good Ltd", 1)],
      ["Typo", "20.10", terms, wireTo("Typo Ltd", 2)],
      ["Shut", "75", terms, wireTo("Shut Ltd", 3)],
      ["No method", "33.30", terms, undefined],
      ["Below minimum", "40", { ...terms, min_payout: "50" }, wireTo("Below Ltd", 4)],
    ] as const;
    for (const [name, amount, fields, payment] of partners) {
      const partner = await world.partner({ name, ...fields }, payment);
      const bonus = { kind: "bonus", reason: "Best newcomer", currency: "EUR", amount };
      await world.make("/adjustments", { affiliate_id: partner, ...bonus });
    }
    await world.takeBack();
    const { statements } = Closed.parse(await world.call("POST", "/statements/close", {}));
    const ids = statements.filter(({ status }) => status === "draft").map(({ id }) => id);
    expect(ids).toHaveLength(4);
    await world.call("POST", "/statements/approve", { ids });
  };

  const open = async (at: Page, path: string): Promise<void> => {
    await at.goto(world.browser.base("admin") + path);
    await settled(at);
  };
  const drawer = (): Locator => page.locator(".drawer");
  const preview = async (): Promise<void> => {
    await open(page, "/money/payouts");
    await press(page, "New run");
    await choose(drawer(), "Currency", { sought: "EUR" });
    await press(page, "Preview");
  };
  const rowOf = (scope: Page | Locator, name: string): Locator =>
    scope.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
  const hasStatus = async (at: Page, status: string): Promise<void> =>
    await at.locator(".record-head .badge", { hasText: new RegExp(`^${status}$`) }).waitFor();
  const figuresOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
    await open(page, "/money");
    const rows = await readTable(page.locator(".data-table").first());
    return rows.find((row) => row["Partner"] === name) ?? {};
  };

  test("the preview says who is held and why, and leads to who is below the minimum (N48, N56)", async () => {
    await preview();
    await drawer().getByText("3 paid with €1,935.65, 1 held with €33.30.").waitFor();
    await rowOf(drawer(), "No method").getByText("No payment details to pay to").waitFor();
    expect(await rowOf(drawer(), "Below minimum").count()).toBe(0);
    await world.picture(page, "preview");
    await drawer().getByRole("link", { name: "Statements below the minimum" }).click();
    await rowOf(page, "Below minimum").getByText("Carried", { exact: true }).waitFor();
    await settled(page);
    const [row] = await readTable(page.locator(".data-table").first());
    expect(row).toMatchObject({ Total: "€40.00", "To be paid": "€0.00", "Carried on": "€40.00" });
    await page.getByRole("button", { name: "Below minimum" }).click();
    await page.getByText("€50.00").waitFor();
    const [line] = await readTable(page.locator(".data-table").first());
    expect(line).toMatchObject({ Item: "Bonus", Count: "", Amount: "€40.00" });
    await world.picture(page, "below-minimum");
  });

  test("a run whose answer was lost is made once: the same request has the same key (N5)", async () => {
    await preview();
    await drawer().getByText("3 paid with").waitFor();
    const keys: (string | undefined)[] = [];
    await page.route("**/api/v1/payout-runs", async (route) => {
      if (route.request().method() !== "POST") return await route.fallback();
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 1) return await route.fallback();
      // The service makes the run, and nobody hears of it.
      await route.fetch({ headers: await route.request().allHeaders() });
      await route.abort("connectionreset");
    });
    await press(page, "Make the run");
    await drawer().getByRole("alert").getByText("No answer").waitFor();
    await world.picture(page, "lost-answer");
    await press(page, "Make the run");
    await page.getByRole("heading", { name: /^Run \d+$/, level: 1 }).waitFor();
    await page.unroute("**/api/v1/payout-runs");
    world.browser.forgive(/ERR_CONNECTION_RESET/);
    expect(keys).toEqual([expect.stringMatching(/^[\w.-]{1,64}$/), keys[0]]);
    const runs = Runs.parse(await world.call("GET", "/payout-runs"));
    run = String(runs[0]?.id);
    expect(runs).toHaveLength(1);
    await world.picture(page, "draft");
  });

  test("who made a run may not approve it: the refusal is beside the button, and nothing is lost (N53)", async () => {
    await press(page, "Approve");
    const question = page.getByRole("dialog", { name: "Approve 3 payments?" });
    await question.getByText("3 payments with €1,935.65").waitFor();
    await question.getByText("1 held leaves the run.").waitFor();
    await press(page, "Approve 3 payments");
    await question.getByText(/^You made this run/).waitFor();
    await question.getByText("ask another admin to approve it").waitFor();
    expect(await question.getByRole("button", { name: "Approve 3 payments" }).isEnabled()).toBe(
      true,
    );
    await world.picture(page, "refused");
    await press(page, "Not now");
    await hasStatus(page, "Draft");
    expect(await rowOf(page, "Good").count()).toBe(1);
  });

  test("a second person approves it, and who is held has left it (N53, N56)", async () => {
    await open(second, `/money/payouts/${run}`);
    await press(second, "Approve");
    await press(second, "Approve 3 payments");
    await hasStatus(second, "Approved");
    await world.picture(second, "approved");
    await open(page, `/money/payouts/${run}`);
    await hasStatus(page, "Approved");
    await page.getByText("Second admin", { exact: true }).waitFor();
    const payments = await readTable(page.getByRole("table", { name: "Payments of the run" }));
    expect(Object.keys(payments[0] ?? {}).slice(0, 3)).toEqual(["Partner", "Amount", "Status"]);
    expect(payments.map((row) => [row["Partner"], row["Amount"], row["Status"]])).toEqual([
      ["Good", "€1,840.55", "Pending"],
      ["Shut", "€75.00", "Pending"],
      ["Typo", "€20.10", "Pending"],
    ]);
  });

  test("a wrong row of the results is named with its reason, and the right ones count once (N55)", async () => {
    const { lines } = Lines.parse(await world.call("GET", `/payout-runs/${run}`));
    const reference = (name: string): string =>
      lines.find((line) => line.affiliate_name === name)?.reference ?? "";
    const rows = [
      [reference("Good"), "paid", "BANK-1", "1840.55", ""],
      [reference("Typo"), "paid", "BANK-2", "20.11", ""],
      [reference("Shut"), "failed", "", "75.00", "account closed"],
      ["P0L0", "paid", "BANK-3", "1.00", ""],
      [reference("Typo"), "lost", "", "", ""],
    ];
    for (const outcome of ["2 applied, 0 unchanged", "0 applied, 2 unchanged"]) {
      await enterResults(page, rows, `${outcome}, 3 rejected.`);
      const faults = page.locator(".fault-list");
      await faults.getByText("Row 2: Amount: Enter 20.10, the amount of this line").waitFor();
      await faults.getByText("Row 4: Reference: No line of this run has this reference").waitFor();
      await faults.getByText(/^Row 5: Status: Choose one of /).waitFor();
      await world.picture(page, "results");
      expect(await figuresOf("Good")).toMatchObject({ Paid: "€1,840.55", Owed: "€0.0033" });
      await open(page, `/money/payouts/${run}`);
    }
    await hasStatus(page, "Approved");
    await rowOf(page, "Shut").getByText("account closed").waitFor();
    expect(await page.getByRole("button", { name: "Cancel the run" }).count()).toBe(0);
    const right = [[reference("Typo"), "paid", "BANK-2", "20.10", ""]];
    await enterResults(page, right, "1 applied, 0 unchanged, 0 rejected.");
    await hasStatus(page, "Paid");
    await world.picture(page, "paid");
  });

  test("a failed transfer is owed again, and the next run's preview has it (N52, N53)", async () => {
    const figures = { Owed: "€75.00", Approved: "€75.00", "In payout": "€0.00", Paid: "€0.00" };
    expect(await figuresOf("Shut")).toMatchObject(figures);
    await preview();
    await drawer().getByText("1 paid with €75.00, 1 held with €33.30.").waitFor();
    await rowOf(drawer(), "Shut").getByText("Bank transfer").waitFor();
    await rowOf(drawer(), "No method").waitFor();
    await press(page, "Make the run");
    await page.getByRole("heading", { name: /^Run \d+$/, level: 1 }).waitFor();
    expect(await world.violations()).toEqual([]);
  });

  test("the screens have no fault of axe and fit three widths, in light and dark", async () => {
    const list = `${world.browser.base("admin")}/money/payouts`;
    const runs = Runs.parse(await world.call("GET", "/payout-runs"));
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        for (const address of [list, ...runs.map(({ id }) => `${list}/${id}`)])
          expect(await screenFaults(page, address, [width]), `${theme} ${width}`).toEqual([]);
      }
    }
    // What matters most is in the first columns, which a narrow screen shows without scrolling.
    const first = [
      ["/payouts", ["Run", "Status", "Total", "Payments"]],
      [`/payouts/${run}`, ["Partner", "Amount", "Held because"]],
      ["/statements", ["", "Partner", "Status", "To be paid"]],
      ["", ["Partner", "Owed"]],
    ] as const;
    for (const width of [900, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [path] of first) {
        await open(page, `/money${path}`);
        expect(await page.evaluate<string>(TITLE_ALIGNMENTS)).toBe("bottom");
        await world.picture(page, `dark-${width}${path.replaceAll("/", "-")}`);
      }
    }
    for (const [path, titles] of first) {
      await open(page, `/money${path}`);
      const [row = {}] = await readTable(page.locator(".data-table").first());
      expect(Object.keys(row).slice(0, titles.length)).toEqual(titles);
    }
  });
});
