import assert from "node:assert/strict";
import { z } from "zod";
import { IdentityProvider } from "../../../system/identity-provider.ts";
import { MailServer } from "../../../system/mail-server.ts";
import { until } from "../../../system/until.ts";
import { API_URL, ApiWorld, type Tenant } from "../api-world.ts";
import {
  data,
  enterAs,
  forgetAttempts,
  outcome,
  ownPerson,
  PASSWORD,
  PersonBrowser,
  redeem,
  tokenIn,
} from "./person-browser.ts";
import { addPasskey, atProvider, setUpCodes, signInWith } from "./person-factors.ts";
import type { SoftwareAuthenticator } from "./software-authenticator.ts";

const SOON = { timeoutMs: 90_000 };
const Memberships = z.object({ memberships: z.array(z.object({ id: z.int() })) });
const REFUSED = "401 sign_in_required";

/** What whoever uses a link of somebody else gives. */
export const NEW = { name: "Newcomer", password: PASSWORD };
/** What the owner of an e-mail gives. */
export const OWNER = { name: "Owner", password: "nine-boats-on-a-lake" };
/** The mail after a change of the ways to sign in. */
export const CHANGED = "Subject: Your ways to sign in have changed";

/** What the owner sees of an account that nobody else can open. */
export const ALONE = {
  email_proved: true,
  has_totp: false,
  has_oidc: false,
  passkeys: 0,
  recovery_codes: 0,
};

/** Nothing of what the maker of an account has kept opens it. */
export const SHUT_OUT = {
  session: REFUSED,
  password: REFUSED,
  passkey: REFUSED,
  provider: REFUSED,
  invitation: "404 not_found",
};

type Signed = { readonly browser: PersonBrowser; readonly outcome: string };
type Grant = Readonly<Record<string, unknown>>;
/** Everything by which the maker of an account can come back to it. */
type Impostor = {
  readonly browser: PersonBrowser;
  readonly authenticator: SoftwareAuthenticator;
  readonly subject: string;
  /** An invitation that was made with the account. */
  readonly open: string;
};

/** Two tenants with a mail server and an identity provider. */
export class MailedWorld {
  readonly api: ApiWorld;
  readonly mails: MailServer;
  readonly provider: IdentityProvider;
  readonly other: Tenant;
  /** Invites into the first tenant whom he likes, and is shown the links. */
  readonly inviter: Awaited<ReturnType<typeof enterAs>>;
  /** An admin of the second tenant. */
  readonly stranger: Awaited<ReturnType<typeof enterAs>>;
  #addresses = 0;

  private constructor(
    parts: Pick<MailedWorld, "api" | "mails" | "provider" | "other" | "inviter" | "stranger">,
  ) {
    this.api = parts.api;
    this.mails = parts.mails;
    this.provider = parts.provider;
    this.other = parts.other;
    this.inviter = parts.inviter;
    this.stranger = parts.stranger;
  }

  static async open(): Promise<MailedWorld> {
    const mails = await MailServer.open();
    const provider = await IdentityProvider.open(`${API_URL}/console/sign-in/oidc`);
    const { issuer, clientId, clientSecret } = provider;
    const api = await ApiWorld.open({
      mail: { url: mails.url, from: "Tracker <tracker@first.example>" },
      oidc: { issuer, clientId, clientSecret, name: "Works" },
    });
    const other = await api.addTenant("second");
    const inviter = await enterAs(api, "inviter@first.example", api.tenant, { role: "admin" });
    const stranger = await enterAs(api, "stranger@second.example", other, { role: "admin" });
    return new MailedWorld({ api, mails, provider, other, inviter, stranger });
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.provider.close();
    await this.mails.close();
  }

  /** An address that nobody has used yet. */
  address(word: string): string {
    this.#addresses += 1;
    return `${word}${this.#addresses}@first.example`;
  }

  /** The newest mail to somebody, with these words. */
  async mailTo(email: string, words: string): Promise<string> {
    const to = `to: ${email.toLowerCase()}`;
    const find = (): string | undefined =>
      this.mails.mails.findLast((mail) => mail.toLowerCase().includes(to) && mail.includes(words));
    await until(`${email} has a mail with ${words}`, () => find() !== undefined, SOON);
    return find() ?? "";
  }

  async redeem(
    token: string,
    more: Readonly<Record<string, string>> = {},
  ): ReturnType<typeof redeem> {
    return await redeem(this.api, token, more);
  }

  /** An invitation: the token that its maker is shown, and the one that is mailed. */
  async invite(
    maker: PersonBrowser,
    email: string,
    grant: Grant = { role: "analyst" },
  ): Promise<{ readonly id: string; readonly shown: string; readonly mailed: string }> {
    const made = await maker.post("/invitations", { email, ...grant });
    return {
      id: String(data(made)["id"]),
      shown: tokenIn(made.text),
      mailed: tokenIn(await this.mailTo(email, "Open this link to join")),
    };
  }

  /** The token that the owner gets who has forgotten the password. */
  async resetByMail(email: string): Promise<string> {
    const asked = await new PersonBrowser(this.api.origin).post("/sign-in/forgotten", { email });
    assert.equal(asked.status, 200);
    return tokenIn(await this.mailTo(email, "choose a new password"));
  }

  /** Signs in with the provider, in a browser of its own. */
  async signInAt(subject: string, more: Readonly<Record<string, string>> = {}): Promise<Signed> {
    const browser = new PersonBrowser(this.api.origin);
    const came = await atProvider(this.provider, browser, "/sign-in/oidc", subject);
    const answer = await browser.post("/sign-in/oidc", { ...came, ...more });
    return { browser, outcome: outcome(answer) };
  }

  /** The inviter makes an account with somebody's e-mail for himself, and every way to come back to it. */
  async madeInAdvance(email: string, grant: Grant = { role: "admin" }): Promise<Impostor> {
    const { shown } = await this.invite(this.inviter, email, grant);
    const { browser } = await this.redeem(shown, NEW);
    const { memberships } = Memberships.parse(data(await browser.get("/session")));
    browser.membership = memberships[0]?.id ?? 0;
    const { authenticator } = await addPasskey(browser);
    await setUpCodes(browser);
    const subject = `subject of ${email}`;
    this.provider.accounts.set(subject, { email: "x@x.example", email_verified: true, name: "X" });
    const connected = await atProvider(this.provider, browser, "/person/oidc", subject);
    assert.equal((await browser.post("/person/oidc", connected)).status, 200);
    const accomplice = { email: this.address("accomplice"), role: "admin" };
    const open = tokenIn((await browser.post("/invitations", accomplice)).text);
    const { email_proved, has_totp, has_oidc, passkeys } = await ownPerson(browser);
    assert.deepEqual([email_proved, has_totp, has_oidc, passkeys], [false, true, true, 1]);
    return { browser, authenticator, subject, open };
  }

  /** What the maker of the account meets who tries to come back to it. */
  async triedBy(
    { browser, authenticator, subject, open }: Impostor,
    email: string,
  ): Promise<Record<keyof typeof SHUT_OUT, string>> {
    await forgetAttempts(this.api);
    return {
      session: outcome(await browser.get("/session")),
      password: outcome(await new PersonBrowser(this.api.origin).signIn(email, NEW.password)),
      passkey: outcome((await signInWith(this.api, authenticator)).answer),
      provider: (await this.signInAt(subject)).outcome,
      invitation: (await this.redeem(open, NEW)).outcome,
    };
  }
}
