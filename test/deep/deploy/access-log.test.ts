import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { findProcesses } from "../../system/processes.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

/** Values that only visitors and callers know. */
const CANARIES = {
  email: "canary.person@secret.example",
  phone: "+4915112345678",
  ip: "203.0.113.77",
  query: "canaryqueryvalue",
  key: "trk_canarywrongkey0123456789",
} as const;
const WAIT = { timeoutMs: 90_000 };

const Line = z.strictObject({
  t: z.iso.datetime(),
  role: z.enum(["ingress", "api"]),
  rid: z.string().min(1),
  m: z.string(),
  route: z.string(),
  status: z.int(),
  us: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  host: z.string(),
  click: z.string(),
  reason: z.string(),
});
type Line = z.infer<typeof Line>;

let folder: string;
let file: string;
let system: System;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-access-"));
  file = join(folder, "access.log");
  system = await startSystem({ env: { ACCESS_LOG: "all", ACCESS_LOG_FILE: file } });
});

afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Every line is read with the schema, so one that is cut or mixed with another fails. */
async function linesOf(path: string): Promise<Line[]> {
  const text = await readFile(path, "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => Line.parse(JSON.parse(line)));
}

async function untilNoted(rid: string, path = file): Promise<Line> {
  return await until(
    `${rid} is in the access log`,
    async () => (await linesOf(path)).find((line) => line.rid === rid),
    WAIT,
  );
}

test("a click, a refused click and a call of the API each have a line under their ID", async () => {
  const { client } = system;
  const { headers } = await client.attempt(client.demo.links.affiliate);
  const clickId = /[0-9a-f]{32}/.exec(String(headers["location"]))?.[0] ?? "";
  expect(await untilNoted(clickId)).toMatchObject({
    role: "ingress",
    m: "GET",
    route: "/r/:offer/:affiliate",
    status: 302,
    click: clickId,
    host: new URL(client.demo.tracking_url).host,
    reason: "",
  });
  const given = randomUUID();
  await client.attempt(`${client.demo.tracking_url}/r/NONE/NONE`, { "x-request-id": given });
  expect(await untilNoted(given)).toMatchObject({ status: 404, reason: "unknown_link", click: "" });
  const unauthorized = await client.attempt(`${client.demo.base_url}/offers/1`);
  const rid = String(unauthorized.headers["x-request-id"]);
  expect(await untilNoted(rid)).toMatchObject({
    role: "api",
    route: "/api/v1/offers/:id",
    status: 401,
    reason: "missing_api_key",
  });
});

test("no line contains an address, a query or a secret (P31)", async () => {
  const { client } = system;
  const { tracking_url: tracking, base_url: api, links, postback_token: token } = client.demo;
  const { email, phone, ip, query, key } = CANARIES;
  const person = new URLSearchParams({ email, phone, ip, sub1: query }).toString();
  const from = { "x-forwarded-for": ip, referer: `https://shop.example/?q=${query}` };
  const last = randomUUID();
  const calls: [string, Record<string, string>][] = [
    [`${links.affiliate.replace(/\?.*/, "")}?${person}`, from],
    [`${tracking}/pb?token=${token}&click_id=${query}&${person}`, from],
    [`${tracking}/px?click_id=${query}&${person}`, from],
    [`${tracking}/c/${query}?url=https%3A%2F%2Fevil.example%2F${query}`, from],
    [`${tracking}/${query}`, { ...from, host: `${query}@${email}` }],
    [`${api}/me?${person}`, { ...from, authorization: `Bearer ${key}` }],
    [`${api}/${query}/${encodeURIComponent(email)}`, { ...from, authorization: `Bearer ${key}` }],
    [`${tracking}/pb`, { ...from, "x-request-id": last }],
  ];
  for (const [url, headers] of calls) await client.attempt(url, headers);
  await untilNoted(last);
  await until(
    "the calls of the API are noted",
    async () =>
      (await linesOf(file)).filter(({ role, status }) => role === "api" && status === 401).length >=
      3,
    WAIT,
  );
  const text = await readFile(file, "utf8");
  for (const canary of [...Object.values(CANARIES), token, client.demo.keys.admin])
    expect(text).not.toContain(canary);
});

test("after a rename SIGUSR2 goes on in a new file, and no line is lost or cut", async () => {
  const { client, dataDir } = system;
  const sent = new Set<string>();
  const send = async (): Promise<void> => {
    const { headers } = await client.attempt(client.demo.links.affiliate);
    sent.add(/[0-9a-f]{32}/.exec(String(headers["location"]))?.[0] ?? "");
  };
  for (let n = 0; n < 50; n += 1) await send();
  const rotated = `${file}.1`;
  await rename(file, rotated);
  const pids = [
    ...(await findProcesses(dataDir, "ingress")),
    ...(await findProcesses(dataDir, "api")),
  ];
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  await until("the new file exists", async () => (await stat(file)).isFile(), WAIT);
  for (let n = 0; n < 50; n += 1) await send();
  await until(
    "every click has a line in one of both files",
    async () => {
      const noted = new Set(
        [...(await linesOf(rotated)), ...(await linesOf(file))].map(({ rid }) => rid),
      );
      return [...sent].every((clickId) => noted.has(clickId));
    },
    WAIT,
  );
  expect((await linesOf(file)).length).toBeGreaterThan(0);
});
