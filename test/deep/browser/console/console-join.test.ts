import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { PASSWORD } from "../../../browser/console/sign-in-roles.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { trackerCommand } from "../../../system/tracker-command.ts";
import { field, invite, join, PeoplePages, press, signIn, signOut } from "./people-pages.ts";

const program = findChromium();
const ADMIN = "first@join.example";
const Link = z.object({ link: z.string() });

describe.skipIf(program === undefined)("invitations of people who have an account", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let pages: PeoplePages;
  let admin: Page;

  beforeAll(async () => {
    system = await startSystem();
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo);
    pages = new PeoplePages(browser);
    admin = await pages.open();
    const first = await tracker("person", "first-link", "--json");
    await admin.goto(Link.parse(JSON.parse(first)).link);
    await field(admin, "E-mail").fill(ADMIN);
    await field(admin, "Your name").fill("First admin");
    await field(admin, "Password").fill(PASSWORD);
    await press(admin, "Continue");
    await admin.getByRole("heading", { name: "Dashboard" }).waitFor();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await system[Symbol.asyncDispose]();
  });

  const tracker = async (...args: string[]): Promise<string> => {
    const { code, output } = await trackerCommand(system.dataDir, args);
    expect([code, output]).toEqual([0, output]);
    return output;
  };
  /** A link to a workspace of its own, for the admin, who is a member of the first one only. */
  const linkTo = async (slug: string, name: string): Promise<string> => {
    await tracker("workspace", "create", "--name", name, "--slug", slug);
    const output = await tracker("person", "invite", ADMIN, "--workspace", slug, "--role", "admin");
    const [link = ""] = /http\S+join#[\w-]+/.exec(output) ?? [];
    return link;
  };

  test("who fills in the form for a new account is asked to sign in, and lands in the new workspace (D1)", async () => {
    const link = await linkTo("second", "Second shop");
    const page = await pages.open();
    await page.goto(link);
    await page.locator(".facts", { hasText: "Second shop" }).waitFor();
    const told = (await page.locator(".facts").textContent()) ?? "";
    for (const words of [ADMIN, "Admin", "Second shop"]) expect(told).toContain(words);
    await field(page, "Your name").fill("First admin");
    await field(page, "Password").fill(PASSWORD);
    // The window gets the focus again, such as after a look into a password manager.
    const asked = page.waitForResponse((answer) => answer.url().endsWith("/api/v1/session"));
    await page.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
    await asked;
    expect(await field(page, "Your name").inputValue()).toBe("First admin");
    await press(page, "Continue");
    await page.getByText("You have an account. Sign in to add this workspace.").waitFor();
    expect(await field(page, "E-mail").inputValue()).toBe(ADMIN);
    expect(await axeFaults(page)).toEqual([]);
    await field(page, "Password").fill("not the password at all");
    await press(page, "Sign in");
    await page.getByRole("alert").waitFor();
    await field(page, "Password").fill(PASSWORD);
    await press(page, "Sign in");
    await page.waitForURL(/\/console\/w\/second\/$/);
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    // The link has left the history.
    await page.goBack();
    expect(page.url()).not.toContain("#");
    await page.context().close();
  });

  test("who is signed in adds the workspace with one press, and lands in it (D1)", async () => {
    await admin.goto(await linkTo("third", "Third shop"));
    await admin.getByRole("heading", { name: "Add this workspace" }).waitFor();
    await press(admin, "Join");
    await admin.getByRole("heading", { name: "Dashboard" }).waitFor();
    expect(admin.url()).toMatch(/\/console\/w\/third\/$/);
  });

  test("who is signed in as somebody else is told so, and signs in as the person who is invited (D1)", async () => {
    const link = await linkTo("fourth", "Fourth shop");
    const other = await pages.open();
    const email = "other@join.example";
    await join(
      other,
      await invite(admin, browser.base("admin"), { email, role: "admin" }),
      "Other",
    );
    // Two people share this browser, and the second one has proved an e-mail as well.
    await signOut(other);
    await signIn(other, ADMIN);
    await other.getByRole("button", { name: "Sign out" }).waitFor();
    const output = await tracker(
      "person",
      "invite",
      email,
      "--workspace",
      "fourth",
      "--role",
      "analyst",
    );
    const [foreign = ""] = /http\S+join#[\w-]+/.exec(output) ?? [];
    await other.goto(foreign);
    await other.getByText(`You are signed in as ${ADMIN}`).waitFor();
    expect(await field(other, "E-mail").inputValue()).toBe(email);
    expect(await other.getByRole("button", { name: "Join", exact: true }).count()).toBe(0);
    // The own link of this person works at once.
    await other.goto("about:blank");
    await other.goto(link);
    await press(other, "Join");
    await other.waitForURL(/\/console\/w\/fourth\/$/);
    await other.context().close();
  });

  test("an accepted invitation says so, and a session says browser and system in words", async () => {
    const email = "accepted@join.example";
    const page = await pages.open();
    await join(page, await invite(admin, browser.base("admin"), { email, role: "analyst" }), "Acc");
    await admin.goto(`${browser.base("admin")}/workspace/people`);
    const row = admin.getByRole("table", { name: "Invitations" }).locator("tr", { hasText: email });
    await row.getByText("Accepted", { exact: true }).waitFor();
    await page.goto(`${browser.base("admin")}/you`);
    await page.getByText("Chrome on Linux").waitFor();
    expect(await page.getByText("Mozilla/5.0").count()).toBe(0);
    await page.context().close();
  });
});
