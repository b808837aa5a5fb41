import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { atRest, ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { PASSWORD } from "../../../browser/console/sign-in-roles.ts";
import { serversOf } from "../../../system/servers-of.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { trackerCommand } from "../../../system/tracker-command.ts";
import { expectOnce } from "./paced.ts";
import {
  addAuthenticator,
  bytesOfBase32,
  field,
  invite,
  join,
  linkIn,
  PeoplePages,
  press,
  signIn,
  signOut,
  unusedCodes,
} from "./people-pages.ts";

const program = findChromium();
const SECOND_MS = 1000;
/** On a quiet machine twice as long is allowed. */
const HALF_A_MINUTE_MS = 30 * SECOND_MS;
const ADMIN = "first@people.example";
const NEW_PASSWORD = "eleven-boats-under-a-bridge";
const Link = z.object({ link: z.string() });

describe.skipIf(program === undefined)("people at the door of the console", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let pages: PeoplePages;
  let db: Pool;
  let admin: Page;

  beforeAll(async () => {
    system = await startSystem();
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo);
    pages = new PeoplePages(browser);
    db = openPool({ url: (await serversOf(system)).postgres, applicationName: "test" });
    admin = await pages.open();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await db.end();
    await system[Symbol.asyncDispose]();
  });

  const base = (): string => browser.base("admin");
  const tracker = async (...args: string[]): Promise<string> => {
    const { code, output } = await trackerCommand(system.dataDir, args);
    expect([code, output]).toEqual([0, output]);
    return output;
  };
  /** Somebody new, who has joined by a link of the admin. */
  const newcomer = async (email: string, role = "analyst"): Promise<Page> => {
    const link = await invite(admin, base(), { email, role });
    const page = await pages.open();
    await join(page, link, email);
    return page;
  };
  /** The API remembers a session and the membership of its requests for a second. */
  const forgetProofs = async (page: Page): Promise<void> => {
    await db.query({ text: "update session set proved_at = now() - interval '11 minutes'" });
    await expect.poll(async () => await page.evaluate(IS_FRESH)).toBe(false);
  };

  test("the printed link makes the first admin within a minute, and works once (journey 1)", async () => {
    let link = "";
    await expectOnce("first admin", HALF_A_MINUTE_MS, async () => {
      ({ link } = Link.parse(JSON.parse(await tracker("person", "first-link", "--json"))));
      await admin.goto(link);
      await field(admin, "E-mail").fill(ADMIN);
      await field(admin, "Your name").fill("First admin");
      await field(admin, "Password").fill("password");
      await press(admin, "Continue");
      await admin.locator(".field .fault").first().waitFor();
      expect(await field(admin, "E-mail").inputValue()).toBe(ADMIN);
      await field(admin, "Password").fill(PASSWORD);
      await press(admin, "Continue");
      await admin.getByRole("heading", { name: "Dashboard" }).waitFor();
      await admin.waitForURL(`${base()}/`);
    });
    const second = await pages.open();
    await second.goto(link);
    await second.getByRole("heading", { name: "This link does not work" }).waitFor();
  });

  test("a partner who joins by a link in another browser sees only its own (journey 15)", async () => {
    const email = "anna@people.example";
    const partner = "Anna's blog";
    const link = await invite(admin, base(), { email, role: "partner", partner });
    const page = await pages.open();
    await join(page, link, "Anna");
    await page.waitForURL(/\/w\/demo\/partner\/DEMOANNA\/$/);
    await settled(page);
    expect(await page.getByRole("link", { name: "Advertisers" }).count()).toBe(0);
    await page.goto(`${base()}/advertisers`);
    await page.getByText("Page not found, or you don't have access").waitFor();
    await admin.goto(`${base()}/workspace/people`);
    await admin.getByText(email).first().waitFor();
  });

  test("each code of the app and each recovery code signs in once (journey 23)", async () => {
    const email = "codes@people.example";
    const page = await newcomer(email);
    await page.goto(`${base()}/you`);
    await press(page, "Set up codes");
    await page.getByRole("img", { name: "QR code for your app" }).waitFor();
    const secret = bytesOfBase32((await page.locator("code.break").textContent()) ?? "");
    const newCode = unusedCodes(secret);
    await field(page, "Code").fill(newCode());
    await press(page, "Confirm");
    await page.getByText("Keep these codes in a safe place").waitFor();
    await page.locator(".notice code").first().waitFor();
    const shown = await page.locator(".notice code").allTextContents();
    const [recovery = ""] = shown.join(" ").split(" ");
    let code = "";
    for (const right of [() => (code = newCode()), () => recovery]) {
      await signOut(page);
      await signIn(page, email);
      await field(page, "Code").waitFor();
      await giveCode(page, right());
      await page.getByRole("button", { name: "Sign out" }).waitFor();
    }
    await signOut(page);
    for (const used of [code, recovery]) {
      await signIn(page, email);
      await giveCode(page, used);
      const alert = page.getByRole("alert");
      await expect.poll(async () => await alert.textContent()).toContain("was used before");
      await press(page, "Sign in as somebody else");
      await field(page, "E-mail").waitFor();
    }
  });

  test("a passkey signs in without password where the host has a name (journey 23)", async () => {
    const email = "passkey@people.example";
    const byAddress = await newcomer(email);
    await byAddress.goto(`${base()}/you`);
    const named = `http://localhost:${system.ports.api}/console/`;
    await byAddress.getByRole("link", { name: named }).waitFor();
    const page = await pages.open();
    await addAuthenticator(page);
    await page.goto(named);
    await signIn(page, email);
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await page.goto(`${named}w/demo/you`);
    await field(page, "Name of the new passkey").fill("Laptop");
    await press(page, "Add a passkey");
    await page.getByText("The passkey is added.").waitFor();
    await signOut(page);
    await press(page, "Use a passkey");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${named}w/demo/you`);
    await page.getByText("last used").waitFor();
    await press(page, "Remove Laptop");
    await page.getByRole("button", { name: "Remove Laptop" }).waitFor({ state: "detached" });
    await signOut(page);
    await press(page, "Use a passkey");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
  });

  test("a proof is asked over the page, what was typed stays, and the change is made", async () => {
    await admin.goto(`${base()}/workspace/people`);
    await forgetProofs(admin);
    await press(admin, "Invite");
    const drawer = admin.locator(".drawer");
    await field(drawer, "E-mail").fill("proof@people.example");
    await press(drawer, "Create invite link");
    const dialog = admin.getByRole("dialog", { name: "Confirm it's you" });
    await press(dialog, "Cancel");
    await dialog.waitFor({ state: "detached" });
    expect(await field(drawer, "E-mail").inputValue()).toBe("proof@people.example");
    await press(drawer, "Create invite link");
    await field(dialog, "Your password").fill("not-the-password");
    await press(dialog, "Continue");
    await dialog.getByRole("alert").waitFor();
    await field(dialog, "Your password").fill(PASSWORD);
    await press(dialog, "Continue");
    expect(await linkIn(drawer)).toContain("/console/join#");
    const { rows } = await db.query({
      text: "select from one_time_link where email = 'proof@people.example'",
    });
    expect(rows).toHaveLength(1);
  });

  test("a session that has ended is renewed over the page, which nobody reads meanwhile", async () => {
    const email = "ended@people.example";
    const page = await newcomer(email, "admin");
    await page.goto(`${base()}/workspace/people`);
    await press(page, "Invite");
    const drawer = page.locator(".drawer");
    await field(drawer, "E-mail").fill("later@people.example");
    await endSessionsOf(db, email, page);
    await press(drawer, "Create invite link");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.waitFor();
    const cover = await page.evaluate(
      `getComputedStyle(document.querySelector(".backdrop.hides")).backgroundColor`,
    );
    expect(cover).toMatch(/^rgb\(/);
    expect(await field(dialog, "E-mail").inputValue()).toBe(email);
    await field(dialog, "Password").fill(PASSWORD);
    await press(dialog, "Sign in");
    expect(await linkIn(drawer)).toContain("/console/join#");
  });

  test("somebody else who signs in over a page starts with an empty one", async () => {
    const page = await newcomer("leaves@people.example", "admin");
    await newcomer("comes@people.example");
    await page.goto(`${base()}/workspace/people`);
    await press(page, "Invite");
    await field(page.locator(".drawer"), "E-mail").fill("secret@people.example");
    await endSessionsOf(db, "leaves@people.example", page);
    await press(page.locator(".drawer"), "Create invite link");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await signIn(dialog, "comes@people.example");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await page.getByText("comes@people.example").waitFor();
    const { rows } = await db.query({
      text: "select from one_time_link where email = 'secret@people.example'",
    });
    expect(rows).toEqual([]);
  });

  test("a reset link sets a new password, ends all sessions, and works once", async () => {
    const email = "lost@people.example";
    const before = await newcomer(email);
    await admin.goto(`${base()}/workspace/people`);
    await press(admin, `Change ${email}`);
    await press(admin.locator(".drawer"), "Make a reset link");
    const link = await linkIn(admin.locator(".drawer"));
    const page = await pages.open();
    await page.goto(link);
    await field(page, "Password").fill(NEW_PASSWORD);
    await press(page, "Save and sign in");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await before.reload();
    await signIn(before, email);
    await before.getByRole("alert").waitFor();
    await signIn(before, email, NEW_PASSWORD);
    await before.getByRole("button", { name: "Sign out" }).waitFor();
    const late = await pages.open();
    await late.goto(link);
    await late.getByRole("heading", { name: "This link does not work" }).waitFor();
    expect(await field(late, "Password").count()).toBe(0);
  });

  test("a colleague who becomes an analyst loses the buttons at the next request (journey 21)", async () => {
    const email = "demoted@people.example";
    const page = await newcomer(email, "admin");
    await page.goto(`${base()}/partners`);
    await page.getByRole("button", { name: "New partner" }).waitFor();
    await admin.goto(`${base()}/workspace/people`);
    await press(admin, `Change ${email}`);
    const drawer = admin.locator(".drawer");
    await field(drawer, "Role").selectOption("analyst");
    await press(drawer, "Save");
    await drawer.waitFor({ state: "detached" });
    await expectOnce("buttons gone", SECOND_MS, async () => {
      await expect
        .poll(async () => {
          for (const name of ["Offers", "Partners"])
            await page.getByRole("link", { name, exact: true }).click();
          await page.getByRole("heading", { name: "Partners", level: 1 }).waitFor();
          await page.locator("tbody tr").first().waitFor();
          return await page.getByRole("button", { name: "New partner" }).count();
        })
        .toBe(0);
    });
  });

  test("two tabs in two workspaces write each to its own, and nobody else gets in (journey 22)", async () => {
    const stranger = await newcomer("stranger@people.example");
    await tracker("workspace", "create", "--name", "Second", "--slug", "second");
    const output = await tracker(
      "person",
      "invite",
      ADMIN,
      "--workspace",
      "second",
      "--role",
      "admin",
    );
    const [link = ""] = /http\S+join#[\w-]+/.exec(output) ?? [];
    await admin.goto(link);
    await press(admin, "Join");
    await admin.getByRole("combobox", { name: "Workspace" }).waitFor();
    const other = await admin.context().newPage();
    const second = `${browser.origin}/console/w/second`;
    await admin.goto(`${base()}/workspace`);
    await other.goto(`${second}/workspace`);
    await field(admin, "Name for partners").fill("Brand of the first");
    await field(other, "Name for partners").fill("Brand of the second");
    await Promise.all([press(other, "Save"), press(admin, "Save")]);
    await Promise.all([admin.getByText("Saved.").waitFor(), other.getByText("Saved.").waitFor()]);
    const { rows } = await db.query({
      text: "select slug, brand_name from workspace where slug in ('demo', 'second') order by slug",
    });
    expect(rows).toEqual([
      { slug: "demo", brand_name: "Brand of the first" },
      { slug: "second", brand_name: "Brand of the second" },
    ]);
    await stranger.goto(`${second}/workspace`);
    await stranger.getByText("Page not found, or you don't have access").waitFor();
  });

  test("somebody signs up as a partner and waits in the inbox; a closed page says so (M24)", async () => {
    const address = `${browser.origin}/console/signup/demo/partner`;
    const page = await pages.open();
    await page.goto(address);
    await page.getByRole("heading", { name: "No sign-up here" }).waitFor();
    await admin.goto(`${base()}/workspace`);
    await field(admin, "Sign-up of partners").selectOption("review");
    await press(admin, "Save");
    await admin.getByText(address).waitFor();
    await page.reload();
    await field(page, "Name").fill("Newsletter of Nora");
    await field(page, "E-mail").fill("no address");
    await press(page, "Apply");
    await page.locator(".field .fault").first().waitFor();
    expect(await field(page, "Name").inputValue()).toBe("Newsletter of Nora");
    await field(page, "E-mail").fill("nora@people.example");
    await press(page, "Apply");
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    await admin.goto(`${base()}/inbox`);
    await admin.getByRole("link", { name: "New partners" }).click();
    await admin.getByText("Newsletter of Nora").first().waitFor();
    await admin.locator("tbody").getByText("pending").first().waitFor();
  });

  test.each(["light", "dark"] as const)(
    "before the sign-in axe finds nothing in %s, and no page is too wide",
    async (theme) => {
      const page = await pages.open({ theme });
      for (const path of ["", "signup/demo/partner", "join#none"]) {
        await page.goto(`${browser.origin}/console/${path}`);
        await settled(page);
        expect(await page.locator("h1").count(), path).toBe(1);
        expect(await axeFaults(page), path).toEqual([]);
        for (const width of [320, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await atRest(page);
          const wide = await page.evaluate("document.documentElement.scrollWidth");
          expect([path, Number(wide) <= width]).toEqual([path, true]);
        }
      }
    },
  );
});

const IS_FRESH = `(async () => {
  const ask = (id) => fetch("/api/v1/session", { headers: { "x-tracker-membership": String(id) } })
    .then((answer) => answer.json());
  const { data } = await ask(0);
  return (await ask(data.memberships[0].id)).data.session.is_fresh;
})()`;

async function giveCode(page: Page, code: string): Promise<void> {
  await field(page, "Code").fill(code);
  await press(page, "Continue");
}

/** The API remembers a session and the membership of its requests for a second. */
async function endSessionsOf(db: Pool, email: string, page: Page): Promise<void> {
  const { rows } = await db.query<{ id: number }>({
    text: `with person_of as (select id from person where email = $1),
             ended as (delete from session where person_id = (select id from person_of))
           select id from membership where person_id = (select id from person_of)`,
    values: [email],
  });
  const status = `fetch("/api/v1/session", { headers: { "x-tracker-membership": "${rows[0]?.id ?? 0}" } })
    .then(({ status }) => status)`;
  await expect.poll(async () => await page.evaluate(status)).toBe(401);
}
