import { SessionTokens } from "../../../api/access/session-tokens.ts";
import { ROLES, type Role } from "../../../api/operation/permissions.ts";
import { insertLink, mintLinkToken } from "../../../api/people/links.ts";
import { insertMembership } from "../../../api/people/members.ts";
import { insertPasskey } from "../../../api/people/passkeys.ts";
import { insertPerson } from "../../../api/people/people.ts";
import { insertSession } from "../../../api/people/session-rows.ts";
import { readSecret } from "../../../schemas/installation/read-secret.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { Names } from "./bodies.ts";

/** The headers of a person's requests, in one membership. */
export type SessionHeaders = Readonly<
  Record<"cookie" | "x-tracker-membership" | "sec-fetch-site", string>
>;

export type People = Readonly<Record<Role, SessionHeaders>>;

/** A person with a session, and the id of the session. */
export async function signInDirectly(
  db: Pool,
  email: string,
): Promise<{ readonly personId: number; readonly cookie: string; readonly sessionId: string }> {
  const tokens = new SessionTokens(await readSecret(db));
  const person = { email, name: email, passwordHash: null, isOperator: false };
  const personId = (await insertPerson(db, person)) ?? 0;
  const token = tokens.mint();
  const sessionId = await insertSession(db, {
    personId,
    token,
    state: "full",
    ip: "",
    userAgent: email,
  });
  return { personId, cookie: `trk_console=${token}`, sessionId };
}

export function headersIn(cookie: string, membership: number): SessionHeaders {
  return {
    cookie,
    "x-tracker-membership": String(membership),
    "sec-fetch-site": "same-origin",
  };
}

/**
 * A person of each role for an account, with an invitation, a passkey and a second session of the partner. Notes their ids for the
 * parameters of paths.
 */
export async function addPeople(
  db: Pool,
  ids: Map<string, string[]>,
  { word, affiliateId, advertiserId }: Names,
): Promise<People> {
  const { rows } = await db.query<{ workspace_id: number }>({
    text: "select workspace_id from affiliate where id = $1",
    values: [affiliateId],
  });
  const workspaceId = rows[0]?.workspace_id ?? 0;
  const made = new Map<Role, SessionHeaders>();
  const add = (place: string, id: number | string | undefined): void => {
    ids.set(place, [...(ids.get(place) ?? []), String(id)]);
  };
  for (const role of ROLES) {
    const email = `${role}@${word}.example`;
    const { personId, cookie, sessionId } = await signInDirectly(db, email);
    const account = {
      affiliateId: role === "partner" ? affiliateId : null,
      advertiserId: role === "advertiser" ? advertiserId : null,
    };
    const grant = { workspaceId, role, ...account };
    const membership = await insertMembership(db, { personId, ...grant });
    made.set(role, headersIn(cookie, membership ?? 0));
    const invitation = { kind: "invitation", email: `friend-${email}`, ...grant } as const;
    add("members/{id}", membership);
    add("sessions/{id}", sessionId);
    add("invitations/{id}", await insertLink(db, { shown: mintLinkToken() }, invitation));
    const passkey = {
      name: word,
      credentialId: Buffer.from(email),
      publicKey: Buffer.from(email),
      counter: 0,
      transports: [],
    };
    add("passkeys/{id}", (await insertPasskey(db, personId, passkey, 10))?.id);
  }
  const of = (role: Role): SessionHeaders => {
    const headers = made.get(role);
    if (headers === undefined) throw new Error(`nobody is ${role}`);
    return headers;
  };
  return {
    admin: of("admin"),
    analyst: of("analyst"),
    partner: of("partner"),
    advertiser: of("advertiser"),
  };
}
