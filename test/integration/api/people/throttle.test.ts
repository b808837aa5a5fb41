import { request } from "node:http";
import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ApiWorld } from "../api-world.ts";
import { freshWindow } from "../fresh-window.ts";
import { makePerson, openAs, outcome, PASSWORD, PersonBrowser } from "./person-browser.ts";

const world = await forThisFile(ApiWorld.open({ trustedProxies: ["127.0.0.1"] }));
let addresses = 0;

/** Tries a password from an address; each call without one has a new address. */
async function attempt(email: string, password: string, ip?: string) {
  addresses += 1;
  const from = ip ?? `203.0.113.${addresses}`;
  const browser = new PersonBrowser(world.origin);
  const body = { email, password };
  return await browser.call("POST", "/sign-in", { body, headers: { "x-forwarded-for": from } });
}

async function outcomes(times: number, one: () => ReturnType<typeof attempt>): Promise<string[]> {
  const all: string[] = [];
  for (let i = 0; i < times; i += 1) all.push(outcome(await one()));
  return all;
}

const WRONG = "401 sign_in_required";
const SLOW_DOWN = "429 rate_limited";

test("after five wrong passwords from an address the right one waits 30 s, elsewhere it works at once", async () => {
  await makePerson(world.pool, "slow@first.example");
  const from = "198.51.100.7";
  const wrong = async () => await attempt("slow@first.example", "wrong", from);
  expect(await outcomes(6, wrong)).toEqual([WRONG, WRONG, WRONG, WRONG, WRONG, SLOW_DOWN]);
  const right = await attempt("slow@first.example", PASSWORD, from);
  expect(outcome(right)).toBe(SLOW_DOWN);
  const wait = Number(right.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(20);
  expect(wait).toBeLessThanOrEqual(30);
  expect((await attempt("slow@first.example", PASSWORD)).status).toBe(200);
});

test("the wait doubles up to 15 minutes, and a success forgets it", {
  timeout: 120_000,
}, async () => {
  await makePerson(world.pool, "double@first.example");
  const from = "198.51.100.8";
  const waits: number[] = [];
  for (let i = 0; i < 12; i += 1) {
    await attempt("double@first.example", "wrong", from);
    const { rows } = await world.pool.query<{ wait: number }>({
      text: `with old as (select holder, blocked_until, counted_until from sign_in_throttle where holder like 'pair:%:198.51.100.8')
             update sign_in_throttle t set blocked_until = 'epoch' from old where t.holder = old.holder
             returning greatest(0, extract(epoch from old.blocked_until - old.counted_until) + 86400)::integer as wait`,
    });
    waits.push(rows[0]?.wait ?? 0);
    await world.pool.query({ text: "delete from rate_window where holder like 'sign-in:%'" });
  }
  expect(waits).toEqual([0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900, 900]);
  expect((await attempt("double@first.example", PASSWORD, from)).status).toBe(200);
  expect(
    await outcomes(5, async () => await attempt("double@first.example", "wrong", from)),
  ).toEqual(Array.from({ length: 5 }, () => WRONG));
});

test("parallel guesses share the five free ones", async () => {
  await makePerson(world.pool, "parallel@first.example");
  const answers = await Promise.all(
    Array.from({ length: 12 }, async () =>
      outcome(await attempt("parallel@first.example", "wrong", "198.51.100.9")),
    ),
  );
  expect(answers.filter((one) => one === WRONG)).toHaveLength(5);
  expect(answers.filter((one) => one === SLOW_DOWN)).toHaveLength(7);
});

test("an e-mail gets 100 guesses an hour from all addresses together, known or not", async () => {
  for (const email of ["guessed@first.example", "unknown@nowhere.example"]) {
    if (email.startsWith("guessed")) await makePerson(world.pool, email);
    await attempt(email, "wrong");
    await world.pool.query({
      text: "update sign_in_throttle set failures = 98 where holder like 'email:%' and failures = 1",
    });
    const seen = await outcomes(3, async () => await attempt(email, "wrong"));
    expect([email, ...seen]).toEqual([email, WRONG, WRONG, SLOW_DOWN]);
    await world.pool.query({ text: "delete from sign_in_throttle" });
  }
});

test("an address gets 30 attempts a minute, and a /64 of IPv6 counts as one", {
  timeout: 120_000,
}, async () => {
  await freshWindow(world);
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, i) =>
      outcome(await attempt(`e${i}@nowhere.example`, "wrong", `2001:db8:7:7::${i.toString(16)}`)),
    ),
  );
  expect(answers.filter((one) => one === SLOW_DOWN)).toHaveLength(10);
  expect(answers.filter((one) => one === WRONG)).toHaveLength(30);
  const elsewhere = await attempt("e@nowhere.example", "wrong", "2001:db8:7:8::1");
  expect(outcome(elsewhere)).toBe(WRONG);
});

test("attempts of an address count before their bodies are read, whatever is in them (#35, G215)", {
  timeout: 120_000,
}, async () => {
  await freshWindow(world);
  const ip = "198.51.100.77";
  const paths = ["/sign-in", "/one-time-links/redeem", "/signup/first/partner", "/sign-in/passkey"];
  const bad = async (path: string, raw: string) => {
    const headers = { ...SAME_ORIGIN, "x-forwarded-for": ip };
    const answer = await fetch(`${world.origin}/api/v1${path}`, {
      method: "POST",
      headers,
      body: raw,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const bodies = ["{", "[]", `{"f":${"[".repeat(50_000)}`, "{}"];
  const seen: number[] = [];
  for (let index = 0; index < 30; index += 1)
    seen.push(await bad(paths[index % 4] ?? "", bodies[(index >> 2) % 4] ?? ""));
  expect(new Set(seen)).toEqual(new Set([400]));
  for (const path of paths) expect(await bad(path, bodies[0] ?? "")).toBe(429);
  // The answer comes although the body never does.
  expect(await statusBeforeBody("/sign-in", ip)).toBe(429);
});

const SAME_ORIGIN = {
  "content-type": "application/json",
  "sec-fetch-site": "same-origin",
  "x-tracker-membership": "0",
};

/** The status that a request gets which announces a body and does not send it. */
async function statusBeforeBody(path: string, ip: string): Promise<number> {
  const { hostname, port } = new URL(world.origin);
  const headers = { ...SAME_ORIGIN, "x-forwarded-for": ip, "content-length": "1000000" };
  return await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: `/api/v1${path}`, method: "POST", headers });
    sent.once("response", (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.resume();
      sent.destroy();
    });
    sent.once("error", reject);
    sent.flushHeaders();
  });
}

test("guesses of the second factor are limited for the person, in all sessions together", async () => {
  const browser = await openAs(world, "factor@first.example", world.tenant, { role: "admin" });
  const guess = async () => await browser.post("/sign-in/prove", { code: "123456" });
  const seen = [];
  for (let i = 0; i < 6; i += 1) seen.push(outcome(await guess()));
  expect(seen).toEqual([...Array.from({ length: 5 }, () => "403 forbidden"), SLOW_DOWN]);
});

const ROUNDS_MIN = 15;
const ROUNDS_MAX = 90;

test("unknown and known e-mails, right or wrong state, get the same answer in about the same time", {
  timeout: 120_000,
}, async () => {
  await makePerson(world.pool, "timed@first.example");
  await makePerson(world.pool, "asleep@first.example");
  await world.pool.query({
    text: "update person set status = 'inactive' where email = 'asleep@first.example'",
  });
  const who = ["timed@first.example", "nobody@first.example", "asleep@first.example"];
  const times = new Map<string, number[]>(who.map((email) => [email, []]));
  const texts = new Set<string>();
  const fastest = (email: string): number => Math.min(...(times.get(email) ?? []));
  // Hashing takes most of the time: an answer without it would come in a fraction.
  const areAlike = (): boolean => {
    const each = who.map(fastest);
    return Math.max(...each) < 1.7 * Math.min(...each);
  };
  // Other work on the machine only delays, so the fastest of each is compared, and more attempts are made until they are alike.
  for (let round = 0; round < ROUNDS_MIN || (round < ROUNDS_MAX && !areAlike()); round += 1) {
    await world.pool.query({ text: "delete from rate_window where holder like 'sign-in:%'" });
    for (const email of who) {
      const startedAt = performance.now();
      const password = email.startsWith("asleep") ? PASSWORD : "wrong";
      const answer = await attempt(email, password, `192.0.2.${round}`);
      times.get(email)?.push(performance.now() - startedAt);
      texts.add(`${answer.status} ${answer.text}`);
    }
  }
  expect([...texts]).toEqual([expect.stringContaining("sign_in_required")]);
  expect(areAlike(), JSON.stringify(who.map(fastest))).toBe(true);
});
