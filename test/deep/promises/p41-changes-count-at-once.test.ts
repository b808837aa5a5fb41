import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { SessionTokens } from "../../../api/access/session-tokens.ts";
import { insertMembership } from "../../../api/people/members.ts";
import { insertPerson } from "../../../api/people/people.ts";
import { insertSession } from "../../../api/people/session-rows.ts";
import { readSecret } from "../../../schemas/installation/read-secret.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const CHANGES = IS_FULL ? 200 : 24;
const AT_ONCE = 8;
const WITHIN_MS = 1_000;
/** Both processes keep what they know warm until the change. */
const POLL_MS = 40;

type Caller = { readonly personId: number; readonly headers: Readonly<Record<string, string>> };

/** What is changed, how, and what the caller's write must answer from then on. */
const KINDS = ["role", "narrowed", "inactive", "removed", "session", "person", "key"] as const;
type Kind = (typeof KINDS)[number];
const AFTERWARDS: Readonly<Record<Kind, number>> = {
  role: 403,
  narrowed: 403,
  inactive: 403,
  removed: 403,
  session: 401,
  person: 401,
  key: 401,
};

test("a changed role, membership, session or key counts within a second in two processes (P41)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  const { world } = fleet;
  const origins = await startApis(fleet);
  const maker = await CallerMaker.open(world.pool, world.workspaceId);
  const admin = await maker.member("admin");
  let violations = 0;
  for (let done = 0; done < CHANGES; done += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, CHANGES - done) }, async (_, i) => {
      const kind = KINDS[(done + i) % KINDS.length] ?? "role";
      return await stale({ kind, origins, maker, admin: admin.headers, number: done + i });
    });
    for (const wrong of await Promise.all(batch)) violations += wrong;
  }
  reportCases(context, { cases: CHANGES * origins.length, violations });
  expect(violations).toBe(0);
});

/** What goes on without a session: the person is still a member. */
const OF_IMPORTS = KINDS.filter((kind) => kind !== "session");

test("an import writes no row a second after its sender lost the right to it (P41)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  const { world } = fleet;
  const origins = await startApis(fleet);
  const maker = await CallerMaker.open(world.pool, world.workspaceId);
  const admin = await maker.member("admin");
  const late: string[] = [];
  for (const [number, kind] of OF_IMPORTS.entries()) {
    const caller = kind === "key" ? await maker.key() : await maker.member("admin");
    const id = await sendImport(origins[number % origins.length] ?? "", caller.headers, kind);
    await until("rows are written", async () => (await rowsOf(world.pool, id)).created > 0, {
      timeoutMs: 60_000,
      pollMs: 20,
    });
    await makeChange(kind, { origin: origins[0] ?? "", admin: admin.headers, caller, maker });
    await pause(WITHIN_MS);
    const { created } = await rowsOf(world.pool, id);
    const ended = await until(
      "the import has ended",
      async () => {
        const rows = await rowsOf(world.pool, id);
        return rows.hasEnded ? rows : undefined;
      },
      { timeoutMs: 60_000 },
    );
    if (ended.created !== created || ended.status !== "stopped") late.push(kind);
  }
  reportCases(context, { cases: OF_IMPORTS.length, violations: late.length });
  expect(late).toEqual([]);
});

async function startApis(fleet: ConversionFleet): Promise<string[]> {
  const origins: string[] = [];
  for (let i = 0; i < 2; i += 1) {
    const port = await freePort();
    fleet.add(nodeProgram("api"), {
      API_PORT: String(port),
      RATE_LIMIT_PER_MINUTE: "1000000",
    });
    origins.push(`http://127.0.0.1:${port}`);
  }
  for (const origin of origins) {
    await until("the API answers", async () => (await fetch(`${origin}/health`)).ok, {
      timeoutMs: 60_000,
    });
  }
  return origins;
}

const Sent = z.object({ data: z.object({ id: z.int() }) });
/** It takes seconds to write these. */
const ROWS = 2_000;

async function sendImport(
  origin: string,
  headers: Caller["headers"],
  word: string,
): Promise<number> {
  const lines = Array.from({ length: ROWS }, (_, index) => `${word} ${index}\n`);
  const answer = await fetch(`${origin}/api/v1/imports?kind=affiliates&format=csv`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", ...headers },
    body: `name\n${lines.join("")}`,
  });
  expect(answer.status).toBe(202);
  return Sent.parse(await answer.json()).data.id;
}

type Rows = { created: number; status: string; hasEnded: boolean };

async function rowsOf(db: Pool, id: number): Promise<Rows> {
  const { rows } = await db.query<Rows>({
    text: `select rows_created as created, status, ended_at is not null as "hasEnded" from import where id = $1`,
    values: [id],
  });
  return rows[0] ?? { created: 0, status: "", hasEnded: false };
}

type Change = {
  readonly kind: Kind;
  readonly origins: readonly string[];
  readonly maker: CallerMaker;
  readonly admin: Caller["headers"];
  readonly number: number;
};

/** Makes one change through one process. Returns how many processes still answer as before, a second after its answer. */
async function stale({ kind, origins, maker, admin, number }: Change): Promise<number> {
  const caller = kind === "key" ? await maker.key() : await maker.member("admin");
  const warm = new AbortController();
  const polling = origins.map(async (origin) => {
    while (!warm.signal.aborted) {
      await write(origin, caller.headers);
      await pause(POLL_MS);
    }
  });
  for (const origin of origins)
    expect([kind, await write(origin, caller.headers)]).toEqual([kind, ALLOWED]);
  await pause(POLL_MS * 3);
  const origin = origins[number % origins.length] ?? "";
  await makeChange(kind, { origin, admin, caller, maker });
  await pause(WITHIN_MS);
  const answers = await Promise.all(origins.map(async (one) => await write(one, caller.headers)));
  warm.abort();
  await Promise.all(polling);
  return answers.filter((status) => status !== AFTERWARDS[kind]).length;
}

async function makeChange(
  kind: Kind,
  {
    origin,
    admin,
    caller,
    maker,
  }: {
    readonly origin: string;
    readonly admin: Caller["headers"];
    readonly caller: Caller;
    readonly maker: CallerMaker;
  },
): Promise<void> {
  const member = `/members/${caller.headers["x-tracker-membership"] ?? ""}`;
  const patch = async (body: unknown): Promise<number> =>
    await send(origin, { method: "PATCH", path: member, headers: admin, body });
  const made = {
    role: async () => await patch({ role: "analyst" }),
    narrowed: async () => await patch({ permissions: ["offers.read"] }),
    inactive: async () => await patch({ status: "inactive" }),
    removed: async () => await send(origin, { method: "DELETE", path: member, headers: admin }),
    session: async () =>
      await send(origin, { method: "POST", path: "/sign-out", headers: caller.headers }),
    person: async () => await maker.disable(caller.personId),
    key: async () => await maker.revoke(caller),
  };
  expect([kind, await made[kind]()]).toEqual([kind, 200]);
}

/** The empty body is refused only after the caller. */
const ALLOWED = 400;

/** A write that only an admin with all permissions may make. */
async function write(origin: string, headers: Caller["headers"]): Promise<number> {
  return await send(origin, { method: "POST", path: "/keys", headers, body: {} });
}

async function send(
  origin: string,
  call: {
    readonly method: string;
    readonly path: string;
    readonly headers: Caller["headers"];
    readonly body?: unknown;
  },
): Promise<number> {
  const answer = await fetch(`${origin}/api/v1${call.path}`, {
    method: call.method,
    headers: {
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
      ...call.headers,
    },
    body: call.body === undefined ? null : JSON.stringify(call.body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Makes people with sessions, and keys, without the work of hashing passwords. */
class CallerMaker {
  readonly #db: Pool;
  readonly #workspaceId: number;
  readonly #tokens: SessionTokens;
  #made = 0;

  private constructor(db: Pool, workspaceId: number, tokens: SessionTokens) {
    this.#db = db;
    this.#workspaceId = workspaceId;
    this.#tokens = tokens;
  }

  static async open(db: Pool, workspaceId: number): Promise<CallerMaker> {
    return new CallerMaker(db, workspaceId, new SessionTokens(await readSecret(db)));
  }

  async member(role: "admin"): Promise<Caller> {
    this.#made += 1;
    const email = `p${this.#made}@changes.example`;
    const person = { email, name: email, passwordHash: null, isOperator: false };
    const personId = (await insertPerson(this.#db, person)) ?? 0;
    const workspaceId = this.#workspaceId;
    const membership = await insertMembership(this.#db, { personId, workspaceId, role });
    const token = this.#tokens.mint();
    await insertSession(this.#db, { personId, token, state: "full", ip: "", userAgent: "" });
    const headers = {
      cookie: `trk_console=${token}`,
      "x-tracker-membership": String(membership),
    };
    return { personId, headers };
  }

  async key(): Promise<Caller> {
    const key = await insertKey(this.#db, {
      workspaceId: this.#workspaceId,
      name: "changed",
      role: "admin",
    });
    return { personId: 0, headers: { authorization: `Bearer ${key}` } };
  }

  /** As the operator does. */
  async disable(personId: number): Promise<number> {
    await this.#db.query({
      text: "update person set status = 'inactive' where id = $1",
      values: [personId],
    });
    return 200;
  }

  async revoke({ headers }: Caller): Promise<number> {
    const secret = (headers["authorization"] ?? "").replace("Bearer ", "");
    await this.#db.query({
      text: "update api_key set revoked_at = now() where secret_hash = sha256($1)",
      values: [Buffer.from(secret)],
    });
    return 200;
  }
}
