import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { list } from "../api-world.ts";
import { WebhookWorld } from "../webhook-world.ts";
import { data, outcome, PersonBrowser } from "./person-browser.ts";

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
const Fields = z.object({
  error: z.object({ details: z.object({ fields: z.record(z.string(), z.string()) }) }),
});
const PATH = "/signup/first/partner";
const visitor = (): PersonBrowser => new PersonBrowser(world.origin);

beforeEach(async () => {
  await world.patch("/workspace", { sign_up: "review" });
  await world.pool.query({ text: "delete from sign_in_throttle" });
});

async function partnersWith(email: string): Promise<Record<string, unknown>[]> {
  return list(await world.get(`/affiliates?q=${encodeURIComponent(email)}`));
}

test("a partner who signs up waits as pending, and affiliate.signup says so (G129)", async () => {
  const hook = await hooks.listen("sign-ups", ["affiliate.signup"]);
  const email = "anna@media.example";
  const body = { name: "Anna Media", email, country: "DE", traffic_sources: "search" };
  const answer = await visitor().post(PATH, body);
  expect(answer.status).toBe(201);
  expect(data(answer)).toMatchObject({ email_verification: "not_required" });
  const [partner] = await partnersWith(email);
  expect(partner).toMatchObject({ ...body, status: "pending", approved_at: null });
  const sent = JSON.parse((await hooks.request(hook, 1)).body) as unknown;
  expect(sent).toMatchObject({
    event: "affiliate.signup",
    data: { id: partner?.["id"], email, status: "pending", country: "DE" },
  });
  const action = "rest POST /signup/{slug}/{audience}";
  const [row] = list(await world.get(`/audit-log?action=${encodeURIComponent(action)}`));
  expect(row).toMatchObject({ action, key_id: null, user: "Anna Media", status: 201 });
});

test("a known and an unknown e-mail are answered alike, and what the known one has stays", async () => {
  const email = "known@media.example";
  const made = await world.post("/affiliates", { name: "Known", email });
  expect(made.status).toBe(201);
  const known = await visitor().post(PATH, { name: "Thief", email: email.toUpperCase() });
  const unknown = await visitor().post(PATH, { name: "New", email: "other@media.example" });
  const shapeOf = (answer: typeof known) => [answer.status, Object.keys(data(answer)).toSorted()];
  expect(shapeOf(known)).toEqual(shapeOf(unknown));
  const found = await partnersWith(email);
  const states = found.map(({ name, status }) => `${String(name)} ${String(status)}`);
  expect(states.toSorted()).toEqual(["Known active", "Thief pending"]);
});

test("applications of one e-mail within a day are the same one, also at the same time", async () => {
  const email = "twice@media.example";
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => await visitor().post(PATH, { name: "Twice", email })),
  );
  const ids = new Set(answers.map((answer) => data(answer)["application_id"]));
  expect(ids.size).toBe(1);
  expect(await partnersWith(email)).toHaveLength(1);
  await world.pool.query({ text: "update sign_up set created_at = now() - interval '25 hours'" });
  await visitor().post(PATH, { name: "Twice", email });
  expect(await partnersWith(email)).toHaveLength(2);
});

test("a program that fills in every field gets the same answer, and nothing is kept", async () => {
  const email = "robot@media.example";
  const body = { name: "Robot", email, website_url2: "https://spam.example" };
  expect((await visitor().post(PATH, body)).status).toBe(201);
  expect(await partnersWith(email)).toEqual([]);
});

test("an address has ten applications an hour", async () => {
  const outcomes: string[] = [];
  for (let i = 0; i < 12; i += 1) {
    const answer = await visitor().post(PATH, { name: "Many", email: `many${i}@media.example` });
    outcomes.push(outcome(answer));
  }
  expect(outcomes.slice(0, 10).every((one) => one.startsWith("201"))).toBe(true);
  expect(outcomes.slice(10)).toEqual(["429 rate_limited", "429 rate_limited"]);
});

test("there is no form where sign-up is closed, for advertisers, or at an unknown address", async () => {
  const asked = async (path: string): Promise<string> => outcome(await visitor().get(path));
  expect((await visitor().get(PATH)).status).toBe(200);
  expect(await asked("/signup/first/advertiser")).toBe("404 not_found");
  expect(await asked("/signup/nowhere/partner")).toBe("404 not_found");
  await world.patch("/workspace", { sign_up: "closed" });
  expect(await asked(PATH)).toBe("404 not_found");
  const body = { name: "Late", email: "late@media.example" };
  expect(outcome(await visitor().post(PATH, body))).toBe("404 not_found");
});

test("a page of another site cannot apply, and a broken field is named", async () => {
  const body = { name: "Cross", email: "cross@media.example" };
  const headers = { "sec-fetch-site": "cross-site" };
  expect(outcome(await visitor().call("POST", PATH, { body, headers }))).toBe("403 forbidden");
  const broken = await visitor().post(PATH, { name: " ", email: "no address", country: "XX" });
  expect(broken.status).toBe(400);
  const { fields } = Fields.parse(broken.body).error.details;
  expect(Object.keys(fields).toSorted()).toEqual(["country", "email", "name"]);
});

test("a program and a page of another site may apply, and sign nobody in (G255)", async () => {
  for (const headers of [
    {},
    { origin: "https://partners.example", "sec-fetch-site": "cross-site" },
  ]) {
    const answer = await fetch(`${world.origin}/api/v1${PATH}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        name: "Program",
        email: `program${Object.keys(headers).length}@media.example`,
      }),
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
});
