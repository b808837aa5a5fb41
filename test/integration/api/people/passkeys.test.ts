import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { API_URL, ApiWorld } from "../api-world.ts";
import { data, openAs, outcome, PersonBrowser } from "./person-browser.ts";
import {
  addPasskey,
  askForPasskey as ask,
  SITE,
  signInWith as signInAt,
} from "./person-factors.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

const world = await forThisFile(ApiWorld.open());

async function signInWith(authenticator: SoftwareAuthenticator, site = SITE) {
  return await signInAt(world, authenticator, site);
}

/** A person with a passkey. */
async function withPasskey(email: string) {
  const browser = await openAs(world, email, world.tenant, { role: "admin" });
  const { authenticator, body, made } = await addPasskey(browser);
  expect(made.status).toBe(201);
  return { browser, authenticator, id: String(data(made)["id"]), body };
}

const REFUSED = "401 sign_in_required";

test("a passkey signs in without password and code, and its answer works once", async () => {
  const { authenticator } = await withPasskey("key@first.example");
  const { browser, body, answer } = await signInWith(authenticator);
  expect(data(answer)).toEqual({ state: "full" });
  expect(data(await browser.get("/session"))).toMatchObject({
    person: { email: "key@first.example", passkeys: 1 },
  });
  const replay = new PersonBrowser(world.origin);
  expect(outcome(await replay.post("/sign-in/passkey", body))).toBe(REFUSED);
});

test("a passkey of another site, of another key, or without PIN is refused", async () => {
  const { authenticator } = await withPasskey("strict@first.example");
  const evil = { origin: "https://api.example.evil", rpId: "api.example" };
  expect(outcome((await signInWith(authenticator, evil)).answer)).toBe(REFUSED);
  const otherName = { origin: API_URL, rpId: "evil.example" };
  expect(outcome((await signInWith(authenticator, otherName)).answer)).toBe(REFUSED);
  expect(outcome((await signInWith(new SoftwareAuthenticator())).answer)).toBe(REFUSED);
  authenticator.verifiesUser = false;
  expect(outcome((await signInWith(authenticator)).answer)).toBe(REFUSED);
  authenticator.verifiesUser = true;
  expect((await signInWith(authenticator)).answer.status).toBe(200);
});

test("a challenge counts once, for its person and for some minutes", async () => {
  const { browser, body } = await withPasskey("challenge@first.example");
  expect(outcome(await browser.post("/person/passkeys", body))).toBe("409 conflict");
  const thief = await openAs(world, "thief@first.example", world.tenant, { role: "admin" });
  const { challenge_id, challenge } = await ask(browser, "/person/passkeys/options");
  const response = new SoftwareAuthenticator().attest({ ...SITE, challenge });
  const stolen = await thief.post("/person/passkeys", { challenge_id, name: "Mine", response });
  expect(outcome(stolen)).toBe("409 conflict");
  const late = await ask(browser, "/person/passkeys/options");
  await world.pool.query({ text: "update challenge set expires_at = now()" });
  const tooLate = {
    challenge_id: late.challenge_id,
    name: "Late",
    response: new SoftwareAuthenticator().attest({ ...SITE, challenge: late.challenge }),
  };
  expect(outcome(await browser.post("/person/passkeys", tooLate))).toBe("409 conflict");
});

test("a removed passkey signs nobody in, and nobody removes that of another person", async () => {
  const { browser, authenticator, id } = await withPasskey("removed@first.example");
  const stranger = await openAs(world, "stranger@first.example", world.tenant, { role: "admin" });
  expect(outcome(await stranger.call("DELETE", `/person/passkeys/${id}`))).toBe("404 not_found");
  expect((await signInWith(authenticator)).answer.status).toBe(200);
  expect((await browser.call("DELETE", `/person/passkeys/${id}`)).status).toBe(200);
  expect((await browser.get("/person/passkeys")).body).toEqual({ data: [] });
  expect(outcome((await signInWith(authenticator)).answer)).toBe(REFUSED);
});

test("a broken answer of a browser is refused, whatever it contains", async () => {
  const { browser } = await withPasskey("broken@first.example");
  const { challenge_id } = await ask(browser, "/person/passkeys/options");
  for (const attestationObject of ["", "AA", "o2NmbXRkbm9uZQ", "A".repeat(1_000)]) {
    const id = "AAAA";
    const response = { clientDataJSON: "e30", attestationObject };
    const answer = await browser.post("/person/passkeys", {
      challenge_id,
      name: "Broken",
      response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
    });
    expect(answer.status).toBe(409);
  }
  expect(
    outcome(await browser.post("/person/passkeys", { challenge_id, name: "x", response: 7 })),
  ).toBe("400 validation_failed");
});
