import { expect, test } from "vitest";
import { insertLink, mintLinkToken } from "../../../../../api/people/links.ts";
import { ApiWorld } from "../../../../integration/api/api-world.ts";
import { untilWaiting, whileTableIsLocked } from "../../../../integration/api/locked-table.ts";
import {
  makePerson,
  outcome,
  ownPerson,
  PASSWORD,
  PersonBrowser,
  redeem,
} from "../../../../integration/api/people/person-browser.ts";
import { addPasskey, signInWith } from "../../../../integration/api/people/person-factors.ts";
import { forThisFile } from "../../../../services/for-this-file.ts";
import { ChildServer } from "../../../../system/child-server.ts";
import { nodeProgram } from "../../../../system/service-program.ts";
import { freePort } from "../../../../system/start-system.ts";
import { until } from "../../../../system/until.ts";

const world = await forThisFile(ApiWorld.open());

async function peopleCalled(email: string): Promise<number> {
  const { rows } = await world.pool.query<{ people: number }>({
    text: "select count(*)::integer as people from person where email = $1",
    values: [email],
  });
  return rows[0]?.people ?? -1;
}

/** Uses the link in a process of its own, and kills that with kill -9 while the transaction has made the person. */
async function redeemAndKill(body: Readonly<Record<string, string>>): Promise<void> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = { ...world.env, API_PORT: String(port), OPS_PORT: String(await freePort()) };
  const api = await ChildServer.start(nodeProgram("api"), `${origin}/health`, env);
  try {
    await whileTableIsLocked(world.pool, "session", async () => {
      const sent = new PersonBrowser(origin).post("/one-time-links/redeem", body).then(
        () => "answered",
        () => "cut",
      );
      await untilWaiting(world.pool, 1);
      api.signal("SIGKILL");
      expect(await sent).toBe("cut");
    });
  } finally {
    await api.end();
  }
}

test("kill -9 while a link is used leaves it unused and nobody half made, and it works afterwards once", {
  timeout: 120_000,
}, async () => {
  const email = "killed@first.example";
  const token = mintLinkToken();
  await insertLink(
    world.pool,
    { shown: token },
    {
      kind: "invitation",
      workspaceId: world.tenant.workspaceId,
      email,
      role: "analyst",
    },
  );
  const body = { token, name: "Newcomer", password: PASSWORD };
  await redeemAndKill(body);
  await until("the transaction is gone", async () => (await peopleCalled(email)) === 0, {
    timeoutMs: 90_000,
  });
  const used = await Promise.all(
    Array.from({ length: 5 }, async () =>
      outcome(await new PersonBrowser(world.origin).post("/one-time-links/redeem", body)),
    ),
  );
  expect(used.toSorted()).toEqual(["200", ...Array.from({ length: 4 }, () => "404 not_found")]);
  expect(await peopleCalled(email)).toBe(1);
});

test("kill -9 while a password is reset leaves the old password and all sessions", {
  timeout: 120_000,
}, async () => {
  const email = "kept@first.example";
  const personId = await makePerson(world.pool, email);
  const browser = new PersonBrowser(world.origin);
  await browser.signIn(email);
  const token = mintLinkToken();
  await insertLink(world.pool, { shown: token }, { kind: "reset", personId, email });
  await redeemAndKill({ token, password: "a-password-that-never-counts" });
  await until("the session lives", async () => (await browser.get("/session")).status === 200, {
    timeoutMs: 90_000,
  });
  expect((await new PersonBrowser(world.origin).signIn(email)).status).toBe(200);
});

test("kill -9 while an unproved account is replaced leaves all of it, and the link works later (G212)", {
  timeout: 120_000,
}, async () => {
  const email = "half@first.example";
  const personId = await makePerson(world.pool, email);
  await world.pool.query({
    text: "update person set proved_email = null where id = $1",
    values: [personId],
  });
  const impostor = new PersonBrowser(world.origin);
  await impostor.signIn(email);
  const { authenticator } = await addPasskey(impostor);
  const token = mintLinkToken();
  const { workspaceId } = world.tenant;
  await insertLink(
    world.pool,
    { shown: token },
    { kind: "invitation", workspaceId, email, role: "analyst" },
  );
  const body = { token, name: "Owner", password: "a-password-that-counts-later" };
  await redeemAndKill(body);
  await until("the session lives", async () => (await impostor.get("/session")).status === 200, {
    timeoutMs: 90_000,
  });
  expect(await ownPerson(impostor)).toMatchObject({ passkeys: 1, email_proved: false });
  expect((await signInWith(world, authenticator)).answer.status).toBe(200);
  expect((await redeem(world, token, body)).outcome).toBe("200");
  expect(outcome((await signInWith(world, authenticator)).answer)).toBe("401 sign_in_required");
});
