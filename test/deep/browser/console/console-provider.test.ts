import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { PASSWORD } from "../../../browser/console/sign-in-roles.ts";
import { IdentityProvider } from "../../../system/identity-provider.ts";
import { MailServer } from "../../../system/mail-server.ts";
import { freePort, type System, startSystem } from "../../../system/start-system.ts";
import { trackerCommand } from "../../../system/tracker-command.ts";
import { until } from "../../../system/until.ts";
import { field, invite, join, PeoplePages, press, signIn, signOut } from "./people-pages.ts";

const program = findChromium();
const Link = z.object({ link: z.string() });
const NEW_PASSWORD = "eleven-boats-under-a-bridge";
const GUEST = "guest@people.example";

describe.skipIf(program === undefined)("with an identity provider and a mail server", () => {
  let system: System;
  let provider: IdentityProvider;
  let mails: MailServer;
  let browser: ConsoleBrowser;
  let pages: PeoplePages;
  let admin: Page;

  beforeAll(async () => {
    const ports = { tracking: await freePort(), api: await freePort() };
    mails = await MailServer.open();
    provider = await IdentityProvider.open(`http://127.0.0.1:${ports.api}/console/sign-in/oidc`);
    provider.accounts.set("guest", { email: GUEST, email_verified: true, name: "Guest" });
    provider.accounts.set("stranger", {
      email: "stranger@people.example",
      email_verified: true,
      name: "Stranger",
    });
    const env = {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: "Works",
      SMTP_URL: mails.url,
      MAIL_FROM: "Tracker <tracker@people.example>",
    };
    system = await startSystem({ ports, env });
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo);
    pages = new PeoplePages(browser);
    const made = await trackerCommand(system.dataDir, ["person", "first-link", "--json"]);
    admin = await pages.open();
    await admin.goto(Link.parse(JSON.parse(made.output)).link);
    await field(admin, "E-mail").fill("admin@people.example");
    await field(admin, "Your name").fill("Admin");
    await field(admin, "Password").fill(PASSWORD);
    await press(admin, "Continue");
    await admin.getByRole("heading", { name: "Dashboard" }).waitFor();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await system[Symbol.asyncDispose]();
    await provider.close();
    await mails.close();
  });

  /** The link of the newest mail. */
  const linkInMailTo = async (email: string): Promise<string> => {
    const found = (): string | undefined =>
      mails.mails
        .filter((mail) => mail.includes(`To: ${email}`))
        .flatMap((mail) => mail.match(/http:\S+\/console\/join#[\w-]{43}/g) ?? [])
        .at(-1);
    return await until(`a mail to ${email} has a link`, found);
  };
  /** Its login page wants a font of another host. */
  const keepInside = async (page: Page): Promise<void> => {
    await page.context().route(
      ({ hostname }) => hostname !== "127.0.0.1",
      async (route) => await route.fulfill({ body: "" }),
    );
  };
  const atProvider = async (page: Page, subject: string): Promise<void> => {
    await page.waitForURL(`${provider.issuer}/**`);
    await page.locator("input[name=login]").fill(subject);
    await page.locator("input[name=password]").fill("any");
    await page.locator("button[type=submit]").click();
  };
  const dashboard = async (page: Page): Promise<void> =>
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();

  test("somebody who is invited by mail joins with the provider, and signs in with it from then on", async () => {
    await invite(admin, browser.base("admin"), { email: GUEST, role: "analyst" });
    await admin.locator(".drawer").getByText("A link is mailed.").waitFor();
    const page = await pages.open();
    await keepInside(page);
    await page.goto(await linkInMailTo(GUEST));
    await press(page, "Continue with Works");
    await atProvider(page, "guest");
    await dashboard(page);
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.goto(`${browser.base("analyst")}/you`);
    await page.getByText("You sign in with it.").waitFor();
    await press(page, "Disconnect");
    await page.getByText("set a password or add a passkey first").waitFor();
    await signOut(page);
    // The provider remembers who signed in.
    await press(page, "Continue with Works");
    await dashboard(page);
    await page.context().close();
  });

  test("a stranger is refused in words, and nothing is left of it", async () => {
    const page = await pages.open();
    await keepInside(page);
    await page.goto(`${browser.origin}/console/`);
    await press(page, "Continue with Works");
    await atProvider(page, "stranger");
    await page.getByText("nobody has invited this e-mail").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.reload();
    await page.getByText("This tab has begun no sign-in").waitFor();
    await page.getByRole("link", { name: "Begin again" }).click();
    await field(page, "Password").waitFor();
    await page.context().close();
  });

  test("a link that has ended says why, and a person without a proved e-mail is told (G209, G211)", async () => {
    const email = "ends@people.example";
    const made = await invite(admin, browser.base("admin"), { email, role: "admin" });
    const maker = await pages.open();
    await join(maker, made, "Ends");
    await maker.goto(`${browser.base("admin")}/you`);
    await maker.getByText("the link in the mail proves it").waitFor();
    const late = { email: "late@people.example", role: "analyst" };
    const link = await invite(maker, browser.base("admin"), late);
    await admin.goto(`${browser.base("admin")}/workspace/people`);
    await admin
      .getByRole("row")
      .filter({ hasText: `${email} not proved` })
      .first()
      .waitFor();
    await press(admin, "Change Ends");
    await press(admin.locator(".drawer"), "Remove from the workspace");
    await admin.locator(".drawer").waitFor({ state: "detached" });
    const page = await pages.open();
    await page.goto(link);
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    const words = async (): Promise<string | null> => await page.getByRole("alert").textContent();
    await expect.poll(words).toContain("somebody's rights have changed: ask for a new one");
    await expect.poll(words).toContain("Whoever gave you the link can make another one");
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
    await maker.context().close();
  });

  test("a forgotten password is replaced by a link that comes by mail", async () => {
    const email = "forgets@people.example";
    await invite(admin, browser.base("admin"), { email, role: "analyst" });
    const page = await pages.open();
    await join(page, await linkInMailTo(email), "Forgets");
    await dashboard(page);
    const invitation = await linkInMailTo(email);
    await signOut(page);
    await press(page, "Forgot the password?");
    expect(await axeFaults(page)).toEqual([]);
    await field(page, "E-mail").fill(email);
    await press(page, "Mail me a link");
    await page.getByText("a link is on its way").waitFor();
    await until("the link is there", async () => (await linkInMailTo(email)) !== invitation);
    await page.goto(await linkInMailTo(email));
    await field(page, "Password").fill(NEW_PASSWORD);
    await press(page, "Save and sign in");
    await dashboard(page);
    await signOut(page);
    await signIn(page, email, NEW_PASSWORD);
    await dashboard(page);
    await settled(page);
    await page.context().close();
  });
});
