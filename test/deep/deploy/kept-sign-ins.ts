import { z } from "zod";
import { insertMembership } from "../../../api/people/members.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { codeAt, secretIn } from "../../integration/api/people/authenticator-code.ts";
import {
  data,
  makePerson,
  outcome,
  PersonBrowser,
} from "../../integration/api/people/person-browser.ts";
import { SoftwareAuthenticator } from "../../integration/api/people/software-authenticator.ts";
import { serversOf } from "../../system/servers-of.ts";
import type { System } from "../../system/start-system.ts";

const EMAIL = "owner@kept.example";
const Challenge = z.object({
  data: z.object({
    challenge_id: z.string(),
    options: z.looseObject({ challenge: z.string() }),
  }),
});

/** An admin of the demo workspace with a password, codes and a passkey, and a browser that is signed in. */
export class KeptSignIns {
  readonly #browser: PersonBrowser;
  readonly #secret: Buffer;
  readonly #authenticator: SoftwareAuthenticator;

  private constructor(
    browser: PersonBrowser,
    secret: Buffer,
    authenticator: SoftwareAuthenticator,
  ) {
    this.#browser = browser;
    this.#secret = secret;
    this.#authenticator = authenticator;
  }

  static async make(system: System): Promise<KeptSignIns> {
    // Passkeys need a name.
    const browser = new PersonBrowser(`http://localhost:${system.ports.api}`);
    browser.membership = await makeAdmin(system);
    const signedIn = await browser.signIn(EMAIL);
    if (signedIn.status !== 200) throw new Error(`nobody is signed in: ${signedIn.text}`);
    const authenticator = new SoftwareAuthenticator();
    const { challenge_id, asked } = await challengeOf(browser, "/person/passkeys/options");
    const response = authenticator.attest(asked);
    const made = await browser.post("/person/passkeys", { challenge_id, name: "Key", response });
    if (made.status !== 201) throw new Error(`no passkey was made: ${made.text}`);
    const secret = secretIn(String(data(await browser.post("/person/totp"))["secret"]));
    const code = codeAt(secret, -1);
    const confirmed = await browser.post("/person/totp/confirm", { code });
    if (confirmed.status !== 200) throw new Error(`no codes were set up: ${confirmed.text}`);
    return new KeptSignIns(browser, secret, authenticator);
  }

  /** How the service answers the session, a right code after the password, and the passkey. */
  async outcomes(): Promise<{ session: string; code: string; passkey: string }> {
    const { origin } = this.#browser;
    const another = new PersonBrowser(origin);
    const half = data(await another.signIn(EMAIL))["state"];
    if (half !== "second_factor") throw new Error(`the password alone leads to ${String(half)}`);
    const code = await another.post("/sign-in/second-factor", { code: codeAt(this.#secret) });
    const third = new PersonBrowser(origin);
    const { challenge_id, asked } = await challengeOf(third, "/sign-in/passkey/options");
    const response = this.#authenticator.assert(asked);
    const passkey = await third.post("/sign-in/passkey", { challenge_id, response });
    const session = await this.#browser.get("/session");
    return { session: outcome(session), code: outcome(code), passkey: outcome(passkey) };
  }
}

async function makeAdmin(system: System): Promise<number> {
  const pool = openPool({ url: (await serversOf(system)).postgres, applicationName: "test" });
  try {
    const id = await insertMembership(pool, {
      personId: await makePerson(pool, EMAIL),
      workspaceId: system.client.demo.workspace_id,
      role: "admin",
      affiliateId: null,
      advertiserId: null,
      permissions: null,
    });
    if (id === undefined) throw new Error("the person is a member already");
    return id;
  } finally {
    await pool.end();
  }
}

async function challengeOf(browser: PersonBrowser, path: string) {
  const { challenge_id, options } = Challenge.parse((await browser.post(path)).body).data;
  const { challenge } = options;
  return { challenge_id, asked: { challenge, origin: browser.origin, rpId: "localhost" } };
}
