import { z } from "zod";
import { SessionTokens } from "../../../../api/access/session-tokens.ts";
import type { Role } from "../../../../api/operation/permissions.ts";
import { insertMembership } from "../../../../api/people/members.ts";
import { PasswordHasher } from "../../../../api/people/password-hasher.ts";
import { insertPerson } from "../../../../api/people/people.ts";
import { insertSession } from "../../../../api/people/session-rows.ts";
import { readSecret } from "../../../../schemas/installation/read-secret.ts";
import type { Pool } from "../../../../schemas/postgres/connect.ts";
import { callDescribed, type DescribedAnswer } from "../../../system/described-answers.ts";
import { API_URL, type Tenant } from "../api-world.ts";

const Session = z.object({ person: z.record(z.string(), z.unknown()) });

export const PASSWORD = "seven-lamps-on-a-quay";

type Options = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another process than the browser's. */
  readonly origin?: string;
};

/** What a browser does for one person: keeps the cookie, names the membership, says where its requests come from. */
export class PersonBrowser {
  readonly origin: string;
  membership = 0;
  /** Name and value, as in a Cookie header; "" without one. */
  cookie = "";

  constructor(origin: string) {
    this.origin = origin;
  }

  async call(method: string, path: string, options: Options = {}): Promise<DescribedAnswer> {
    const answer = await callDescribed(`${options.origin ?? this.origin}/api/v1`, {
      method,
      path,
      body: options.body,
      headers: {
        "sec-fetch-site": "same-origin",
        origin: API_URL,
        "x-tracker-membership": String(this.membership),
        ...(this.cookie === "" ? {} : { cookie: this.cookie }),
        ...options.headers,
      },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";", 1);
      this.cookie = pair.endsWith("=") ? "" : pair;
    }
    return answer;
  }

  async get(path: string): Promise<DescribedAnswer> {
    return await this.call("GET", path);
  }

  async post(path: string, body?: unknown): Promise<DescribedAnswer> {
    return await this.call("POST", path, { body });
  }

  async signIn(email: string, password: string = PASSWORD): Promise<DescribedAnswer> {
    return await this.post("/sign-in", { email, password });
  }
}

let hashed: Promise<string> | undefined;

/** The token of a link in an answer, in a mail, or in what a command prints. */
export function tokenIn(text: string | undefined): string {
  const token = /\/console\/join#([\w-]{43})/.exec(text ?? "")?.[1];
  if (token === undefined) throw new Error(`no link in ${text ?? "nothing"}`);
  return token;
}

/** Uses a link in a browser of its own. */
export async function redeem(
  { origin }: { readonly origin: string },
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{
  readonly browser: PersonBrowser;
  readonly answer: DescribedAnswer;
  readonly outcome: string;
}> {
  const browser = new PersonBrowser(origin);
  const answer = await browser.post("/one-time-links/redeem", { token, ...more });
  return { browser, answer, outcome: outcome(answer) };
}

/** Attempts of one address are limited, and the people of a test are many behind one. */
export async function forgetAttempts({ pool }: { readonly pool: Pool }): Promise<void> {
  await pool.query({ text: "delete from rate_window where holder like 'sign-in:%'" });
  await pool.query({ text: "delete from sign_in_throttle" });
}

/** What a person sees of itself. */
export async function ownPerson(browser: PersonBrowser): Promise<Record<string, unknown>> {
  return Session.parse(data(await browser.get("/session"))).person;
}

/** A person with {@link PASSWORD} and a proved e-mail. Returns the id. */
export async function makePerson(db: Pool, email: string, isOperator = false): Promise<number> {
  hashed ??= new PasswordHasher().hash(PASSWORD);
  const id = await insertPerson(db, {
    email,
    name: `Name of ${email}`,
    passwordHash: await hashed,
    isOperator,
    isProved: true,
  });
  if (id === undefined) throw new Error(`${email} exists`);
  return id;
}

/** A membership of a person in a tenant, with the tenant's account where the role has one. Returns the id. */
export async function makeMembership(
  db: Pool,
  personId: number,
  tenant: Tenant,
  {
    role,
    permissions = null,
  }: { readonly role: Role; readonly permissions?: readonly string[] | null },
): Promise<number> {
  const id = await insertMembership(db, {
    personId,
    workspaceId: tenant.workspaceId,
    role,
    affiliateId: role === "partner" ? tenant.affiliateId : null,
    advertiserId: role === "advertiser" ? tenant.advertiserId : null,
    permissions,
  });
  if (id === undefined) throw new Error("the person is a member already");
  return id;
}

/** A signed-in member, in the tenant's workspace. */
export async function openAs(
  world: { readonly pool: Pool; readonly origin: string },
  email: string,
  tenant: Tenant,
  grant: { readonly role: Role; readonly permissions?: readonly string[] | null },
): Promise<PersonBrowser & { readonly personId: number }> {
  const personId = await makePerson(world.pool, email);
  const browser = new PersonBrowser(world.origin);
  browser.membership = await makeMembership(world.pool, personId, tenant, grant);
  const answer = await browser.signIn(email);
  if (answer.status !== 200) throw new Error(`${email} cannot sign in: ${answer.text}`);
  return Object.assign(browser, { personId });
}

/** The same without the work of hashing a password twice. */
export async function enterAs(
  world: { readonly pool: Pool; readonly origin: string },
  email: string,
  tenant: Tenant,
  grant: { readonly role: Role; readonly permissions?: readonly string[] | null },
): Promise<PersonBrowser & { readonly personId: number }> {
  const personId = await makePerson(world.pool, email);
  const browser = new PersonBrowser(world.origin);
  browser.membership = await makeMembership(world.pool, personId, tenant, grant);
  const token = new SessionTokens(await readSecret(world.pool)).mint();
  const session = { personId, token, state: "full", ip: "", userAgent: "" } as const;
  await insertSession(world.pool, session);
  browser.cookie = `__Host-trk_console=${token}`;
  return Object.assign(browser, { personId });
}

/** `<status> <code>` of a refusal, `<status>` of a success. */
export function outcome({ status, body }: DescribedAnswer): string {
  const error: unknown =
    typeof body === "object" && body !== null ? Reflect.get(body, "error") : undefined;
  const code: unknown =
    typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? `${status} ${code}` : String(status);
}

/** `data` of an answer. */
export function data({ body }: DescribedAnswer): Record<string, unknown> {
  const value: unknown =
    typeof body === "object" && body !== null ? Reflect.get(body, "data") : undefined;
  if (typeof value !== "object" || value === null)
    throw new Error(`no data: ${JSON.stringify(body)}`);
  return { ...value };
}
