import { z } from "zod";
import type { DescribedAnswer } from "../../../system/described-answers.ts";
import type { IdentityProvider } from "../../../system/identity-provider.ts";
import { API_URL } from "../api-world.ts";
import { codeAt, secretIn } from "./authenticator-code.ts";
import { data, PersonBrowser } from "./person-browser.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

/** The site of the worlds with the API_URL of the tests. */
export const SITE = { origin: API_URL, rpId: "api.example" };
const Started = z.object({ flow_id: z.string(), url: z.string() });
const Challenge = z.object({
  data: z.object({
    challenge_id: z.string(),
    options: z.looseObject({ challenge: z.string() }),
  }),
});

/** Begins to set up codes in a session. */
export async function beginCodes(browser: PersonBrowser): Promise<Buffer> {
  return secretIn(String(data(await browser.post("/person/totp"))["secret"]));
}

/** Sets up codes in a session. The code of the step before the current one is used up. */
export async function setUpCodes(
  browser: PersonBrowser,
): Promise<{ readonly secret: Buffer; readonly confirmed: DescribedAnswer }> {
  const secret = await beginCodes(browser);
  const code = codeAt(secret, -1);
  return { secret, confirmed: await browser.post("/person/totp/confirm", { code }) };
}

/** Begins with the identity provider and logs in there. Answers what the provider sends the browser back with. */
export async function atProvider(
  provider: IdentityProvider,
  browser: PersonBrowser,
  path: string,
  subject: string,
): Promise<{ readonly flow_id: string; readonly query: string }> {
  const { flow_id, url } = Started.parse(data(await browser.post(`${path}/options`)));
  return { flow_id, query: await provider.signIn(url, subject) };
}

export async function askForPasskey(
  browser: PersonBrowser,
  path: string,
): Promise<{ readonly challenge_id: string; readonly challenge: string }> {
  const { challenge_id, options } = Challenge.parse((await browser.post(path)).body).data;
  return { challenge_id, challenge: options.challenge };
}

/** Adds a passkey in a session. `body` could be sent again. */
export async function addPasskey(browser: PersonBrowser): Promise<{
  readonly authenticator: SoftwareAuthenticator;
  readonly body: unknown;
  readonly made: DescribedAnswer;
}> {
  const authenticator = new SoftwareAuthenticator();
  const { challenge_id, challenge } = await askForPasskey(browser, "/person/passkeys/options");
  const response = authenticator.attest({ ...SITE, challenge });
  const body = { challenge_id, name: "Laptop", response };
  return { authenticator, body, made: await browser.post("/person/passkeys", body) };
}

/** Signs in with a passkey, in a browser of its own. */
export async function signInWith(
  { origin }: { readonly origin: string },
  authenticator: SoftwareAuthenticator,
  site: Readonly<{ origin: string; rpId: string }> = SITE,
): Promise<{
  readonly browser: PersonBrowser;
  readonly body: unknown;
  readonly answer: DescribedAnswer;
}> {
  const browser = new PersonBrowser(origin);
  const { challenge_id, challenge } = await askForPasskey(browser, "/sign-in/passkey/options");
  const body = { challenge_id, response: authenticator.assert({ ...site, challenge }) };
  return { browser, body, answer: await browser.post("/sign-in/passkey", body) };
}
