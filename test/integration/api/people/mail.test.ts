import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Mailer } from "../../../../api/people/mailer.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { MailServer } from "../../../system/mail-server.ts";
import { until } from "../../../system/until.ts";
import { ApiWorld } from "../api-world.ts";
import { data, openAs, outcome, PASSWORD, PersonBrowser, tokenIn } from "./person-browser.ts";

const server = await forThisFile(MailServer.open());
const FROM = "Tracker <tracker@first.example>";
const world = await forThisFile(ApiWorld.open({ mail: { url: server.url, from: FROM } }));
const SOON = { timeoutMs: 90_000 };
const NEW_PASSWORD = "nine-boats-on-a-lake";

function mailsTo(email: string): string[] {
  return server.mails.filter((mail) => mail.includes(`To: ${email}`));
}

test("whoever has forgotten the password gets a link by mail, and the earlier one ends", async () => {
  const email = "ann@first.example";
  await openAs(world, email, world.tenant, { role: "analyst" });
  const browser = new PersonBrowser(world.origin);
  for (const count of [1, 2]) {
    expect(outcome(await browser.post("/sign-in/forgotten", { email: email.toUpperCase() }))).toBe(
      "200",
    );
    await until("the mail is there", () => mailsTo(email).length === count, SOON);
  }
  const [first, second] = mailsTo(email).map(tokenIn);
  const body = { token: first, password: NEW_PASSWORD };
  expect(outcome(await browser.post("/one-time-links/redeem", body))).toBe("404 not_found");
  const used = await browser.post("/one-time-links/redeem", { ...body, token: second });
  expect(outcome(used)).toBe("200");
  expect(outcome(await new PersonBrowser(world.origin).signIn(email, PASSWORD))).toBe(
    "401 sign_in_required",
  );
  expect(outcome(await new PersonBrowser(world.origin).signIn(email, NEW_PASSWORD))).toBe("200");
});

test("the answer is the same for an unknown e-mail, which gets no mail, and an e-mail has three an hour", async () => {
  const browser = new PersonBrowser(world.origin);
  const email = "nobody@first.example";
  const ask = async () => outcome(await browser.post("/sign-in/forgotten", { email }));
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
    "200",
    "200",
    "200",
    "429 rate_limited",
  ]);
  expect(mailsTo(email)).toEqual([]);
});

test("an invitation is mailed with a link of its own; if the server refuses, one is still shown (G211)", async () => {
  const admin = await openAs(world, "admin@first.example", world.tenant, { role: "admin" });
  const grant = { email: "guest@first.example", role: "analyst" };
  const made = data(await admin.post("/invitations", grant));
  expect(made).toMatchObject({ mailed: true });
  const [mail = ""] = mailsTo(grant.email);
  expect(tokenIn(mail)).not.toBe(tokenIn(String(made["link"])));
  expect(mail).toContain("From: Tracker <tracker@first.example>");
  server.refusal = "the mailbox is full";
  const renewed = await admin.post(`/invitations/${String(made["id"])}/renew`);
  expect(data(renewed)).toMatchObject({ mailed: false });
  expect(tokenIn(String(data(renewed)["link"]))).not.toBe("");
  server.refusal = undefined;
  const list = await admin.get("/invitations");
  expect(list.text).not.toContain("mailed");
});

test("a mail that is refused leaves no address for the log, only the code of the refusal (P31)", async () => {
  const to = "secret-name@first.example";
  server.refusal = `no mailbox for ${to}`;
  const mailer = new Mailer({ url: server.url, from: FROM });
  const fault: unknown = await mailer
    .send({ to, subject: "A new password", text: "-" })
    .catch((error: unknown) => error);
  server.refusal = undefined;
  expect(inspect(fault)).toContain("has not taken a mail: EMESSAGE 450");
  expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain("secret-name");
});

test("a name with line breaks cannot write lines of its own into a mail", async () => {
  const admin = await openAs(world, "second@first.example", world.tenant, { role: "admin" });
  await world.pool.query({
    text: "update workspace set name = $1 where id = $2",
    values: [
      "Shop\r\nBcc: all@first.example\r\n\r\nOpen https://evil.example",
      world.tenant.workspaceId,
    ],
  });
  await admin.post("/invitations", { email: "last@first.example", role: "analyst" });
  const [mail = ""] = mailsTo("last@first.example");
  expect(mail).not.toMatch(/^Bcc:/m);
  expect(mail).not.toMatch(/^Open https/m);
});

test("without a mail server nobody can ask, and links say nothing of mail", async () => {
  const origin = await world.startAnother({});
  const browser = new PersonBrowser(world.origin);
  const body = { email: "ann@first.example" };
  const asked = await browser.call("POST", "/sign-in/forgotten", { body, origin });
  expect(outcome(asked)).toBe("409 conflict");
  expect(data(await browser.call("GET", "/sign-in/options", { origin }))).toMatchObject({
    mail: false,
  });
  expect(data(await browser.get("/sign-in/options"))).toMatchObject({ mail: true });
});
