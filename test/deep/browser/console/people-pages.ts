import type { Locator, Page } from "playwright-core";
import { totpCode } from "../../../../api/people/totp.ts";
import type { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { PASSWORD } from "../../../browser/console/sign-in-roles.ts";
import { choose } from "./choose.ts";

const STEP_MS = 30_000;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Pages of people who sit at different addresses, because the attempts of one address are limited. */
export class PeoplePages {
  readonly #browser: ConsoleBrowser;
  #people = 0;

  constructor(browser: ConsoleBrowser) {
    this.#browser = browser;
  }

  async open(options: Parameters<ConsoleBrowser["page"]>[1] = {}): Promise<Page> {
    const page = await this.#browser.page(undefined, options);
    this.#people += 1;
    await page.context().setExtraHTTPHeaders({ "x-forwarded-for": `198.51.100.${this.#people}` });
    return page;
  }
}

export function field(scope: Page | Locator, label: string): Locator {
  return scope.getByLabel(label, { exact: true });
}

export async function press(scope: Page | Locator, name: string): Promise<void> {
  await scope.getByRole("button", { name, exact: true }).click();
}

export async function signIn(
  page: Page | Locator,
  email: string,
  password = PASSWORD,
): Promise<void> {
  await field(page, "E-mail").fill(email);
  await field(page, "Password").fill(password);
  await press(page, "Sign in");
}

export async function signOut(page: Page): Promise<void> {
  await press(page, "Sign out");
  await field(page, "E-mail").waitFor();
}

/** Invites over the screen of people. Returns the link that is shown once. */
export async function invite(
  admin: Page,
  base: string,
  { email, role, partner }: { email: string; role: string; partner?: string },
): Promise<string> {
  await admin.goto(`${base}/workspace/people`);
  await press(admin, "Invite");
  const drawer = admin.locator(".drawer");
  await field(drawer, "E-mail").fill(email);
  await field(drawer, "Role").selectOption(role);
  if (partner !== undefined) await choose(drawer, "Partner", { sought: partner });
  await press(drawer, "Create invite link");
  await proveIfAsked(admin, drawer.locator("code"));
  return await linkIn(drawer);
}

/** A session that began more than ten minutes ago must prove who it is before it invites. */
async function proveIfAsked(page: Page, done: Locator): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Confirm it's you" });
  await dialog.or(done).first().waitFor();
  if (!(await dialog.isVisible())) return;
  await field(dialog, "Your password").fill(PASSWORD);
  await press(dialog, "Continue");
}

/** The one-time link that stands in a drawer. */
export async function linkIn(drawer: Locator): Promise<string> {
  const link = drawer.locator("code");
  await link.waitFor();
  return (await link.textContent()) ?? "";
}

/** Opens a one-time link as a new person. */
export async function join(page: Page, link: string, name: string): Promise<void> {
  await page.goto(link);
  await field(page, "Your name").fill(name);
  await field(page, "Password").fill(PASSWORD);
  await press(page, "Continue");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

export function bytesOfBase32(text: string): Buffer {
  const bits = text.split("").map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** Codes of the app that count when they are asked for, each of them new. The service admits the code after the present one, too. */
export function unusedCodes(secret: Buffer): () => string {
  let step = 0;
  return () => {
    step = Math.max(step + 1, Math.floor(Date.now() / STEP_MS));
    return totpCode(secret, step);
  };
}

/** A device of Chromium that makes passkeys and says that the person has unlocked it. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
