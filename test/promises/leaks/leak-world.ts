import { z } from "zod";
import { shareHost } from "../../../api/cli/shared-hosts.ts";
import { createWorkspace } from "../../../api/cli/workspaces.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import { ROLES, type Role } from "../../../api/operation/permissions.ts";
import { operations } from "../../../api/operations.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { callDescribed, type DescribedAnswer } from "../../system/described-answers.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { afterAllPosted, until } from "../../system/until.ts";
import { adCostsOf, BODIES, type Body, type Names } from "./bodies.ts";
import { addPeople, type People, type SessionHeaders } from "./leak-people.ts";
import { addStatement } from "./leak-statement.ts";

export type Keys = Readonly<Record<Role, string>>;

/** An advertiser and a partner with one record of everything. */
export type Account = {
  readonly word: string;
  readonly keys: Keys;
  /** Sessions of a person of each role. */
  readonly people: People;
  /** Values for the parameters of paths, by the word before each and its name: `offers/{id}`. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly names: Names;
};

const Made = z.object({ data: z.looseObject({ id: z.union([z.int(), z.string()]) }) });
const Deliveries = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
const Closed = z.object({ data: z.object({ invoices: z.array(z.looseObject({ id: z.int() })) }) });
const Approved = z.object({ data: z.object({ lines: z.array(z.looseObject({ id: z.int() })) }) });
const MadeKey = z.object({ data: z.object({ key: z.string() }) });

/** Paths of the whole installation for its operators, or public ones: test/integration/api/people has their rights. */
const OUTSIDE = /^\/(?:signup|system|workspaces)(?:\/|$)/;

/** Operations on what belongs to a workspace or an account. */
export const operationsOfAccounts: readonly Operation[] = operations.filter(
  ({ path }) => !OUTSIDE.test(path),
);

/** Operations by which the staff makes a record, in the order of {@link BODIES}. */
export const creators = operationsOfAccounts.filter(
  ({ method, status, output, access }) =>
    method === "POST" &&
    status === 201 &&
    access.callers === undefined &&
    hasId(output) &&
    access.roles.includes("admin"),
);

function hasId(output: z.ZodType): boolean {
  const data: unknown = output instanceof z.ZodObject ? output.shape["data"] : undefined;
  return data instanceof z.ZodObject && "id" in data.shape;
}

/** Parameters that name a part of a record, such as a line of an invoice. Every account has the same ones. */
const PARTS_OF_RECORDS: ReadonlySet<string> = new Set(["lines/{line}", "files/{format}"]);

/** The parameters of a path that name records, each with the word before it: `offers/{id}` for "/offers/{id}/events". */
export function placesOf({ path }: Pick<Operation, "path">): string[] {
  const places = path.match(/[\w-]+\/\{\w+\}/g) ?? [];
  return places.filter((place) => !PARTS_OF_RECORDS.has(place));
}

/** The running service with three accounts: two in one workspace, one in another. */
export class LeakWorld {
  readonly system: System;
  readonly db: Pool;
  /** Every key and token that was issued. */
  readonly secrets: string[] = [];

  private constructor(system: System, db: Pool) {
    this.system = system;
    this.db = db;
  }

  static async open(): Promise<LeakWorld> {
    const system = await startSystem();
    const { postgres } = await serversOf(system);
    return new LeakWorld(system, openPool({ url: postgres, applicationName: "test" }));
  }

  /** Makes a workspace with links on the demo's host, the service's tracking address. Returns its admin key. */
  async makeWorkspace(slug: string): Promise<string> {
    const workspace = { name: slug, slug, timezone: "UTC", currency: "USD" };
    const { id, adminKey, postbackToken } = await createWorkspace(this.db, workspace);
    this.secrets.push(adminKey, postbackToken);
    const { host } = new URL(this.system.client.demo.tracking_url);
    await inTransaction(this.db, async (tx) => await shareHost(tx, host, { id, slug }));
    await this.call("PATCH", "/billing-settings", adminKey, {
      enabled: true,
      starts_on: "2026-01-01",
    });
    return adminKey;
  }

  async close(): Promise<void> {
    await this.db.end();
    await this.system[Symbol.asyncDispose]();
  }

  /** Every answer is checked against the OpenAPI document. */
  async call(method: string, path: string, key: string, body?: Body): Promise<DescribedAnswer> {
    return await callDescribed(this.system.client.demo.base_url, { method, path, key, body });
  }

  /** Calls as a person, through a session. Every answer is checked, too. */
  async callAs(
    headers: SessionHeaders,
    method: string,
    path: string,
    body?: Body,
  ): Promise<DescribedAnswer> {
    return await callDescribed(this.system.client.demo.base_url, { method, path, headers, body });
  }

  /** Makes one record of each kind for a new partner and a new advertiser of the workspace. */
  async addAccount(admin: string, word: string): Promise<Account> {
    const ids = new Map<string, string[]>();
    const bodies = Object.entries(BODIES).filter(([path]) =>
      creators.some((one) => one.path === path),
    );
    for (const [path, bodyOf] of bodies) {
      if (path === "/conversions")
        ids.set("clicks/{click_id}", [await this.#click(ids, admin, word)]);
      if (path === "/payout-runs") await addStatement(this.db, ids, namesOf(ids, word));
      const target = fillPath(path, (place) => ids.get(place)?.[0]);
      const answer = await this.call("POST", target, admin, bodyOf(namesOf(ids, word)));
      if (answer.status !== 201) throw new Error(`POST ${target}: ${answer.text}`);
      note(ids, path, Made.parse(answer.body).data);
      for (const name of ["postback_token", "key", "secret"] as const) {
        const secret = Made.parse(answer.body).data[name];
        if (typeof secret === "string" && secret !== word) this.secrets.push(secret);
      }
    }
    const [webhook = ""] = ids.get("webhooks/{id}") ?? [];
    await this.call("POST", `/webhooks/${webhook}/test`, admin, { event: "conversion.created" });
    const [postback = ""] = ids.get("postbacks/{id}") ?? [];
    ids.set("postback-deliveries/{id}", [await this.#delivery(admin, `/postbacks/${postback}`)]);
    ids.set("webhook-deliveries/{id}", [await this.#delivery(admin, `/webhooks/${webhook}`)]);
    const names = namesOf(ids, word);
    await this.call("POST", "/ad-costs", admin, adCostsOf(names));
    ids.set("imports/{id}", [await this.#import(admin, names)]);
    ids.set("invoices/{id}", [await this.#invoice(admin, names)]);
    ids.set("lines/{line}", ["1"]);
    ids.set("files/{format}", ["html", "csv"]);
    ids.set("conversion-updates/{id}", [await this.#update(admin, names)]);
    ids.set(ofRole("adjustments/{id}", "advertiser"), [await this.#adjustment(admin, names)]);
    ids.set("payout-lines/{id}", [await this.#payout(admin, ids)]);
    const people = await addPeople(this.db, ids, names);
    return { word, ids, names, people, keys: await this.#keys(admin, names) };
  }

  async #keys(admin: string, { affiliateId, advertiserId }: Names): Promise<Keys> {
    const make = async (role: Role, account: Body = {}): Promise<string> => {
      const { body } = await this.call("POST", "/keys", admin, { role, ...account });
      const { key } = MadeKey.parse(body).data;
      this.secrets.push(key);
      return key;
    };
    return {
      admin,
      analyst: await make("analyst"),
      partner: await make("partner", { affiliate_id: affiliateId }),
      advertiser: await make("advertiser", { advertiser_id: advertiserId }),
    };
  }

  /** An adjustment for the advertiser: the one of `bodies.ts` is for the partner. */
  async #adjustment(admin: string, { word, advertiserId }: Names): Promise<string> {
    const amount = { currency: "USD", amount: "1", kind: "correction" };
    const body = { ...amount, advertiser_id: advertiserId, reason: word };
    const { data } = Made.parse((await this.call("POST", "/adjustments", admin, body)).body);
    return String(data["id"]);
  }

  /** Approves the run, so that its partner sees its line. */
  async #payout(admin: string, ids: ReadonlyMap<string, readonly string[]>): Promise<string> {
    const path = `/payout-runs/${ids.get("payout-runs/{id}")?.[0] ?? ""}/approve`;
    const { body } = await this.call("POST", path, admin);
    return String(Approved.parse(body).data.lines[0]?.id ?? "");
  }

  /** A sent invoice of the advertiser, whose only line is the offer. */
  async #invoice(admin: string, { advertiserId, offerId, word }: Names): Promise<string> {
    const workspace = await this.db.query<{ workspace_id: number }>({
      text: "select workspace_id from advertiser where id = $1",
      values: [advertiserId],
    });
    const entry = { currency: "USD", offerId, eventCode: "default", count: 1 };
    const of = { account: "advertiser_receivable", ownerId: advertiserId } as const;
    await inTransaction(this.db, async (tx) => {
      const revenue = {
        kind: "conversion",
        sourceKind: "leaks",
        sourceId: word,
        entries: [
          { ...entry, ...of, amount: 150_000n },
          { ...entry, account: "revenue", ownerId: 0, amount: -150_000n },
        ],
      } as const;
      await postLedger(tx, workspace.rows[0]?.workspace_id ?? 0, [revenue]);
    });
    const body = { advertiser_id: advertiserId, until: await afterAllPosted() };
    const closed = await this.call("POST", "/invoices/close", admin, body);
    const [id] = Closed.parse(closed.body).data.invoices.map((invoice) => String(invoice.id));
    if (id === undefined) throw new Error(`no invoice: ${closed.text}`);
    await this.call("POST", `/invoices/${id}/approve`, admin);
    return id;
  }

  /** ID of the first delivery of the postback or webhook with this path. */
  async #delivery(admin: string, path: string): Promise<string> {
    return await until(`${path} has a delivery`, async () => {
      const answer = await this.call("GET", `${path}/deliveries`, admin);
      return Deliveries.parse(answer.body).data[0]?.id;
    });
  }

  /** A file of a partner with a fault, checked only. Returns its ID once it has ended: from then on its answer stays the same. */
  async #import(admin: string, { word }: Names): Promise<string> {
    const base = this.system.client.demo.base_url;
    const path = `/imports?kind=affiliates&dry_run=1&name=${word}.csv`;
    const raw = `name,email\n${word},${word}\n`;
    const sent = await callDescribed(base, { method: "POST", path, key: admin, raw });
    const { id } = Made.parse(sent.body).data;
    return await until(`the import ${id} has ended`, async () => {
      const { body } = await this.call("GET", `/imports/${id}`, admin);
      return Made.parse(body).data["ended_at"] === null ? undefined : String(id);
    });
  }

  /** A file of confirmed conversions. Returns its ID once it is checked: from then on its answer stays the same. */
  async #update(admin: string, { word }: Names): Promise<string> {
    const base = this.system.client.demo.base_url;
    const path = `/conversion-updates?name=${word}.csv`;
    const raw = `offer,txid,status,note\n${word},${word},approved,${word}\n`;
    const sent = await callDescribed(base, { method: "POST", path, key: admin, raw });
    const { id } = Made.parse(sent.body).data;
    return await until(`the update ${id} is checked`, async () => {
      const { body } = await this.call("GET", `/conversion-updates/${id}`, admin);
      return Made.parse(body).data["status"] === "checking" ? undefined : String(id);
    });
  }

  /** A visitor's click on the link of the new partner. Returns its ID once the API shows it. */
  async #click(
    ids: ReadonlyMap<string, readonly string[]>,
    admin: string,
    word: string,
  ): Promise<string> {
    const [, offer = ""] = ids.get("offers/{id}") ?? [];
    const [, partner = ""] = ids.get("affiliates/{id}") ?? [];
    const { tracking_url: tracking } = this.system.client.demo;
    const link = `${tracking}/r/${offer}/${partner}?sub1=${word}&source_id=${word}&odd=${word}`;
    const clickId = await until("the link redirects to its shop", async () => {
      const { headers } = await fetch(link, { redirect: "manual" });
      return /\?c=([0-9a-f]{32})/.exec(headers.get("location") ?? "")?.[1];
    });
    await until(
      "the API shows the click",
      async () => (await this.call("GET", `/clicks/${clickId}`, admin)).status === 200,
    );
    return clickId;
  }
}

/** The place of a record that one role sees instead of the record of all others. */
export function ofRole(place: string, role: Role): string {
  return `${place} as ${role}`;
}

/** A path of an operation with its parameters filled. @throws if a parameter has no value. */
export function fillPath(path: string, valueOf: (place: string) => string | undefined): string {
  return path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (place, before: string) => {
    const value = valueOf(place);
    if (value === undefined) throw new Error(`${path}: there is no record for ${place}`);
    return `${before}/${value}`;
  });
}

/** Stores the ID of a new record, and its code, for every parameter that can name it. */
function note(ids: Map<string, string[]>, path: string, record: Record<string, unknown>): void {
  const before = path.slice(path.lastIndexOf("/") + 1);
  const { id, code } = record;
  ids.set(`${before}/{id}`, [String(id), ...(TAKES_CODES.has(before) ? [String(code)] : [])]);
  ids.set(`${before}/{code}`, [String(code)]);
  ids.set(`${before}/{affiliate}`, [String(code)]);
}

/** Resources whose `{id}` may also be a code (ENV-016, ENV-017). */
const TAKES_CODES = new Set(["offers", "affiliates"]);

function namesOf(ids: ReadonlyMap<string, readonly string[]>, word: string): Names {
  const first = (place: string): string => ids.get(place)?.[0] ?? "";
  return {
    word,
    advertiserId: Number(first("advertisers/{id}")),
    affiliateId: Number(first("affiliates/{id}")),
    offerId: Number(first("offers/{id}")),
    domainId: Number(first("tracking-domains/{id}")),
    clickId: first("clicks/{click_id}"),
  };
}

/** Every operation with every role. `isOpen`: for keys. */
export const walk = operationsOfAccounts.flatMap((operation) =>
  ROLES.map((role) => ({
    operation,
    role,
    title: `${operation.method} ${operation.path} as ${role}`,
    isOpen:
      operation.access.callers === undefined &&
      operation.access.roles.includes(role) &&
      // People who are analysts may use these, their keys may not.
      !(operation.access.changesOwnOnly === true && role === "analyst"),
  })),
);
