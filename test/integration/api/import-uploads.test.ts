import { request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { FILE_BYTES_MAX } from "../../../api/workspace/imports/receive-import.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { ApiWorld, list, record, refusal, type Tenant, textWith } from "./api-world.ts";
import { importIn, partnersOf, sendImport, storedOf, untilEnded } from "./import-calls.ts";

const world = await forThisFile(ApiWorld.open());
const PARTNERS = { kind: "affiliates", format: "csv" };
let tenants = 0;

/** A new workspace for a test. It has one partner. */
async function tenant(): Promise<Tenant> {
  tenants += 1;
  return await world.addTenant(`uploads${tenants}`);
}

function partnerLines(count: number): string {
  return Array.from({ length: count }, (_, index) => `Partner ${index}\n`).join("");
}

test("a file that is too large is refused as 413 and leaves nothing, with or without its length", async () => {
  const of = await tenant();
  const line = Buffer.from(`${"x".repeat(1023)}\n`);
  const body = Buffer.alloc(FILE_BYTES_MAX + 1, line);
  const send = async (sent: Buffer | ReadableStream): Promise<number> => {
    const answer = await fetch(`${world.origin}/api/v1/imports?kind=affiliates&format=csv`, {
      method: "POST",
      headers: { authorization: `Bearer ${of.keys.admin}` },
      body: sent,
      ...(sent instanceof ReadableStream ? { duplex: "half" } : {}),
    });
    expect(await answer.json()).toMatchObject({ error: { code: "payload_too_large" } });
    return answer.status;
  };
  expect(await send(body)).toBe(413);
  expect(await send(new Blob([body]).stream())).toBe(413);
  expect(await storedOf(world, of)).toEqual({ imports: 0, parts: 0 });
});

test("a body that ends early leaves nothing, and neither does an empty one", async () => {
  const of = await tenant();
  const { hostname, port } = new URL(world.origin);
  const headers = { authorization: `Bearer ${of.keys.admin}`, "content-length": "4000000" };
  const path = "/api/v1/imports?kind=affiliates&format=csv";
  const sent = request({ hostname, port, path, method: "POST", headers });
  const closed = new Promise((resolve) => sent.once("error", resolve));
  sent.write(`name\n${partnerLines(60_000)}`);
  await until("parts are stored", async () => (await storedOf(world, of)).parts > 0, {
    pollMs: 20,
  });
  sent.destroy(new Error("the test cuts it"));
  await closed;
  await until("they are gone", async () => (await storedOf(world, of)).imports === 0, {
    pollMs: 20,
  });
  expect(await storedOf(world, of)).toEqual({ imports: 0, parts: 0 });
  const empty = await world.call("POST", "/imports?kind=affiliates&format=csv", {
    key: of.keys.admin,
  });
  expect(refusal(empty)).toBe("400 invalid_request");
  expect(await storedOf(world, of)).toEqual({ imports: 0, parts: 0 });
});

test("a file that stands still is cut and leaves nothing", async () => {
  const of = await tenant();
  const origin = await world.startAnother({ bodyLimits: { bodyMs: 60_000, idleMs: 200 } });
  const { hostname, port } = new URL(origin);
  const headers = { authorization: `Bearer ${of.keys.admin}`, "content-length": "1000" };
  const path = "/api/v1/imports?kind=affiliates&format=csv";
  const cut = new Promise((resolve) => {
    const sent = request({ hostname, port, path, method: "POST", headers });
    sent.once("error", resolve);
    sent.write("name\n");
  });
  expect(await cut).toMatchObject({ code: "ECONNRESET" });
  await until("nothing is left", async () => (await storedOf(world, of)).imports === 0, {
    pollMs: 20,
  });
  expect(await storedOf(world, of)).toEqual({ imports: 0, parts: 0 });
});

test("any other body that is late is answered 408 and cut, although files may take longer", async () => {
  const origin = await world.startAnother({ bodyLimits: { bodyMs: 100, idleMs: 60_000 } });
  const { hostname, port } = new URL(origin);
  const headers = {
    authorization: `Bearer ${world.tenant.keys.admin}`,
    "content-type": "application/json",
    "content-length": "1000",
  };
  const status = await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: "/api/v1/users", method: "POST", headers });
    sent.once("error", reject);
    sent.once("response", (answer) => resolve(answer.statusCode));
    sent.write("{");
  });
  expect(status).toBe(408);
});

test("three hundred uploads that are cut are no errors of the service (#35)", async () => {
  const lines: string[] = [];
  const log = openLog({ process: "test", level: "debug" }, { write: (line) => lines.push(line) });
  const origin = await world.startAnother({ log });
  const { hostname, port } = new URL(origin);
  const { admin: key } = world.tenant.keys;
  const paths = ["/api/v1/offers", "/api/v1/imports?kind=affiliates&format=csv", "/mcp"];
  const cut = async (index: number) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": "100000",
    };
    const path = paths[index % paths.length] ?? "";
    const sent = request({ hostname, port, path, method: "POST", headers });
    const closed = new Promise((resolve) => sent.once("error", resolve));
    sent.write(`{"name":"${"x".repeat(20_000)}`);
    await setTimeout(5);
    if (index % 2 === 0) sent.destroy(new Error("the test ends it"));
    else sent.socket?.resetAndDestroy();
    await closed;
  };
  for (let index = 0; index < 300; index += 30)
    await Promise.all(Array.from({ length: 30 }, async (_, more) => await cut(index + more)));
  // The server has read the end of each connection when it answers the next one.
  expect((await world.callAt(origin, "GET", "/me")).status).toBe(200);
  await setTimeout(200);
  const levels = new Set(lines.map((line) => Line.parse(JSON.parse(line)).level));
  expect([...levels].filter((level) => level !== "info" && level !== "debug")).toEqual([]);
  expect(lines.join("")).not.toMatch(/"status":5\d\d/);
});

const Line = z.looseObject({ level: z.string() });

test("the same file sent again while it is imported is the same import, by any process", async () => {
  const of = await tenant();
  const key = of.keys.admin;
  const another = await world.startAnother();
  const content = `name\n${partnerLines(1_000)}`;
  const answers = await Promise.all(
    [world.origin, another, world.origin, another].map(
      async (origin) => await sendImport(world, PARTNERS, content, { origin, key }),
    ),
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 200, 202]);
  const ids = new Set(answers.map((answer) => importIn(answer).id));
  expect(ids.size).toBe(1);
  const [id = 0] = ids;
  expect(await untilEnded(world, id, { key })).toMatchObject({
    status: "done",
    rows_created: 1_000,
  });
  expect(await partnersOf(world, of)).toEqual({ names: 1_001, found: 1_001 });
});

test("ten imports of a workspace go on at most, until one of them has ended", async () => {
  const of = await tenant();
  const key = of.keys.admin;
  await world.pool.query({
    text: `insert into import (workspace_id, key_id, created_by, is_fresh, request_id, kind, name, format, delimiter, is_dry_run,
             is_update, skips_faulty, status, record_id, leased_until)
           select $1, (select min(id) from api_key where workspace_id = $1), '', true, '', 'offers', '', 'csv', ',', true,
             false, false, 'queued', 'r' || i, 'infinity' from generate_series(1, 10) i`,
    values: [of.workspaceId],
  });
  const refused = await sendImport(world, PARTNERS, "name\nA\n", { key });
  expect([refused.status, refused.text]).toEqual([
    409,
    textWith("10 imports of this workspace have not ended"),
  ]);
  const [oldest] = list(await world.get("/imports", key));
  const stopped = await world.call("POST", `/imports/${oldest?.id ?? 0}/stop`, { key });
  expect(record(stopped)).toMatchObject({
    status: "stopped",
    message: textWith("Stopped by "),
  });
  expect((await sendImport(world, PARTNERS, "name\nA\n", { key })).status).toBe(202);
});

test.each([
  ["format=csv", "kind"],
  ["kind=offers", "format"],
  ["kind=offers&name=x.txt", "format"],
  ["kind=offers&format=xml", "format"],
  ["kind=offers&format=csv&delimiter=ab", "delimiter"],
  ["kind=offers&format=csv&dry_run=yes", "dry_run"],
  ["kind=offers&format=csv&dryrun=1", "dryrun"],
])("POST /imports?%s is refused for its parameter %s", async (query, parameter) => {
  const answer = await world.call("POST", `/imports?${query}`, { raw: "name\n" });
  expect(refusal(answer)).toBe("400 invalid_parameter");
  expect(answer.body).toMatchObject({ error: { details: { param: parameter } } });
});
