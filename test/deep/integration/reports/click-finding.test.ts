import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type FreshDatabase, freshDatabase } from "../../../services/fresh-database.ts";
import { serverUrls } from "../../../services/stores.ts";
import { findProcesses } from "../../../system/processes.ts";
import type { HttpAnswer } from "../../../system/service.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";
import { until } from "../../../system/until.ts";

const Row = z.looseObject({ click_id: z.string(), ts: z.string() });
const List = z.object({ data: z.array(Row), next_cursor: z.string().nullable() });
const Lookup = z.object({ data: z.array(Row), click_ids: z.array(z.string()) });
const Detail = z.object({ data: z.object({ click: Row }) });
const Named = z.object({ id: z.int(), label: z.string().min(1), sub: z.string().min(1) });
const Whole = z.object({
  data: z.object({
    click: Row,
    extra: z.unknown(),
    offer: Named,
    affiliate: Named,
    conversions: z.array(z.unknown()),
  }),
});
const Problem = z.object({ error: z.object({ code: z.string() }) });

type Followed = { readonly id: string; readonly location: string };

const KINDS = ["gclid", "gbraid", "wbraid"] as const;
const IN_A_ROW = 200;
const AT_ONCE = 20;
/** On a loaded machine. */
const TIMEOUT_MS = 60_000;
const PATIENCE = { timeoutMs: 90_000, pollMs: 100 };

let databases: FreshDatabase;
let gate: TcpGate;
let system: System;
let requests = 0;
let refused = 0;

beforeAll(async () => {
  databases = await freshDatabase({
    label: "click_finding",
    servers: serverUrls(),
  });
  const { postgresUrl, clickhouseUrl } = databases;
  gate = await TcpGate.open(clickhouseUrl);
  system = await startSystem({
    env: { POSTGRES_URL: postgresUrl, CLICKHOUSE_URL: gate.urlOf(clickhouseUrl) },
  });
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await gate.shut();
  await databases.drop();
});

/** A visitor follows a link; returns the id of the click and its location. */
async function follow(
  query: string,
  link: "affiliate" | "transparent" = "affiliate",
): Promise<Followed> {
  const { status, headers } = await system.client.attempt(
    `${system.client.demo.links[link]}?${query}`,
  );
  expect(status).toBe(302);
  const id = /trk_cid=([0-9a-f]{32});/.exec(String(headers["set-cookie"]))?.[1];
  if (id === undefined) throw new Error("the redirect has no click id");
  return { id, location: String(headers["location"]) };
}

async function click(query: string): Promise<string> {
  return (await follow(query)).id;
}

/** One GET of the API, with any answer. */
async function get(path: string, role: "admin" | "partner" = "admin"): Promise<HttpAnswer> {
  const { base_url, keys } = system.client.demo;
  return await system.client.attempt(`${base_url}${path}`, {
    authorization: `Bearer ${keys[role]}`,
  });
}

/** The body of the first answer that is not an outage (503). It must be right. */
async function found<Body>(
  path: string,
  body: z.ZodType<Body>,
  role?: "admin" | "partner",
): Promise<Body> {
  requests += 1;
  const answer = await until(
    `${path} is answered`,
    async () => {
      const one = await get(path, role);
      if (one.status === 503) refused += 1;
      return one.status === 503 ? undefined : one;
    },
    PATIENCE,
  );
  expect([path, answer.status, answer.status === 200 ? "" : answer.body]).toEqual([path, 200, ""]);
  return body.parse(JSON.parse(answer.body));
}

/** The clicks of a list as soon as it has so many of them: it is about a second behind (G264). */
async function listed(query: string, count: number): Promise<z.infer<typeof Row>[]> {
  const all = await until(
    `${count} clicks with ${query} are listed`,
    async () => {
      const { data } = await found(`/clicks?${query}&limit=1000`, List);
      return data.length >= count ? data : undefined;
    },
    PATIENCE,
  );
  expect(all).toHaveLength(count);
  return all;
}

function expectUnavailable(answer: HttpAnswer): void {
  expect([answer.status, answer.body]).toEqual([503, expect.stringContaining("unavailable")]);
  expect(Problem.parse(JSON.parse(answer.body)).error.code).toBe("unavailable");
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
}

/** Runs the work `times` times, `atOnce` at once. */
async function repeat(
  times: number,
  atOnce: number,
  work: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < times; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const yesterday = new Date(Date.now() - 86_400_000).toISOString();

test(
  "a click is found right after its redirect, 200 times (CLK-012, CLK-013, CLK-022, G162, P12)",
  async () => {
    await repeat(IN_A_ROW, AT_ONCE, async (i) => {
      const ids = Object.fromEntries(KINDS.map((kind) => [kind, `${kind}-${i}`]));
      const id = await click(String(new URLSearchParams({ ...ids, sub1: `run-${i}` })));
      const role = i % 2 === 0 ? "admin" : "partner";
      const kind = KINDS[i % KINDS.length] ?? "gclid";
      const [{ data: detail }, { data: list }, lookup] = await Promise.all([
        found(`/clicks/${id}`, Detail, role),
        found(`/clicks?click_id=${id}&sub1=run-${i}`, List, role),
        found(`/clicks?${kind}=${kind}-${i}&from=${yesterday}`, Lookup, role),
      ]);
      expect(lookup.click_ids).toEqual([id]);
      expect(lookup.data).toMatchObject([{ click_id: id, ...ids }]);
      expect(detail.click).toMatchObject({ click_id: id, sub1: `run-${i}` });
      expect(list.map((row) => row.click_id)).toEqual([id]);
    });
    expect(refused, `503 of ${requests} answers`).toBeLessThan(requests / 20);
  },
  TIMEOUT_MS,
);

test(
  "pages over a live stream have every click once, newest first (CLK-006, G33)",
  async () => {
    const before: string[] = [];
    await repeat(60, AT_ONCE, async () => void before.push(await click("sub1=paged")));
    await listed("sub1=paged", before.length);
    let isWalking = true;
    const during = repeat(1, 1, async () => {
      while (isWalking) await click("sub1=paged");
    });
    const rows: z.infer<typeof Row>[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const rest: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page: z.infer<typeof List> = await found(`/clicks?sub1=paged&limit=7${rest}`, List);
      rows.push(...page.data);
      cursor = page.next_cursor;
      pages += 1;
    } while (cursor !== null && pages < 500);
    isWalking = false;
    await during;
    const ids = rows.map((row) => row.click_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.filter((id) => !ids.includes(id))).toEqual([]);
    const places = rows.map((row) => `${row.ts} ${row.click_id}`);
    expect(places).toEqual(places.toSorted().toReversed());
  },
  TIMEOUT_MS,
);

test("a click is shown as it was (CLK-008, CLK-009, CLK-010, CLK-011, CLK-023, CLK-024, CLK-025, CLK-026)", async () => {
  const target = encodeURIComponent("https://shop.example/p?a=1&b=%C3%BC");
  const { id, location } = await follow(`foo=bar&sub1=shown&url=${target}`, "transparent");
  expect(location).toBe("https://shop.example/p?a=1&b=%C3%BC");
  const { tracking_url, postback_token } = system.client.demo;
  const shown = {
    click_id: id,
    link_type: "transparent",
    status: "redirect",
    status_reason: "",
    smart_link_id: 0,
    destination: location,
    domain: new URL(tracking_url).host,
  };
  const [row] = await listed("sub1=shown", 1);
  expect(row).toMatchObject(shown);
  await system.client.attempt(
    `${tracking_url}/pb?click_id=${id}&token=${postback_token}&txid=shown-1`,
  );
  const { data } = await found(`/clicks/${id}`, Whole);
  expect(data.click).toMatchObject({ ...shown, ip: "127.0.0.1" });
  expect(data.extra).toEqual({ foo: "bar" });
  expect([row?.["offer_label"], row?.["affiliate_label"]]).toEqual([
    data.offer.label,
    data.affiliate.label,
  ]);
  expect(data.conversions).toMatchObject([
    { adv_txid: "shown-1", method: "s2s", status: "approved" },
  ]);
});

describe("an outage of a store", () => {
  test("with a frozen writer look-ups are 503, and a list says that it may lack clicks (G162, G264, P15)", async () => {
    const pids = await findProcesses(system.dataDir, "processors");
    expect(pids.length).toBeGreaterThan(0);
    let id = "";
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    try {
      id = await click("sub1=frozen&gclid=frozen");
      const paths = [`?click_id=${id}`, `?gclid=frozen&from=${yesterday}`, `/${id}`];
      for (const answer of await Promise.all(paths.map((path) => get(`/clicks${path}`)))) {
        expectUnavailable(answer);
      }
      const { status, headers } = await get("/clicks?sub1=frozen");
      expect([status, headers["x-tracker-complete-until"]]).toEqual([200, undefined]);
    } finally {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    }
    expect(await listed("sub1=frozen", 1)).toMatchObject([{ click_id: id }]);
    const complete = String((await get("/clicks?sub1=frozen")).headers["x-tracker-complete-until"]);
    expect(Date.now() - Date.parse(complete)).toBeLessThan(PATIENCE.timeoutMs);
    expect((await found(`/clicks?gclid=frozen&from=${yesterday}`, Lookup)).click_ids).toEqual([id]);
    expect((await found(`/clicks/${id}`, Detail)).data.click.click_id).toBe(id);
  });

  test("without ClickHouse lists and lookups are 503, a young click is found by its id (G162, P15)", async () => {
    const old = await click("sub1=before");
    await gate.shut();
    try {
      const id = await click("sub1=away&gclid=away");
      for (const one of [old, id]) {
        expect((await found(`/clicks/${one}`, Detail)).data.click.click_id).toBe(one);
      }
      const unknown = `${id.slice(0, 18)}${"0".repeat(10)}${id.slice(28)}`;
      const paths = ["?sub1=away", "?offer_id=1", `?gclid=away&from=${yesterday}`, `/${unknown}`];
      for (const answer of await Promise.all(paths.map((path) => get(`/clicks${path}`)))) {
        expectUnavailable(answer);
      }
    } finally {
      await gate.open();
    }
    await listed("sub1=away", 1);
  });
});
