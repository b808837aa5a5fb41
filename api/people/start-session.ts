import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { OperationResult } from "../operation/operation.ts";
import type { PersonRow } from "./people.ts";
import type { VisitorContext } from "./people-context.ts";
import { deleteSessionOf, insertSession } from "./session-rows.ts";

type State = "second_factor" | "full";

/** Refuses to set a cookie that others could read on its way. @throws {ApiError} `forbidden` */
export function refuseUnsafeAddress({ people }: VisitorContext): void {
  const refusal = people.parts.cookie.refusalAt(people.host);
  if (refusal !== undefined) throw refusal;
}

/** Starts a session with a new secret and ends the session that the browser had. Returns the secret. */
export async function startSession(
  db: Queryable,
  { people, clientIp }: VisitorContext,
  person: { readonly id: number; readonly state: State },
): Promise<string> {
  const { parts, token: earlier, userAgent } = people;
  if (earlier !== undefined && parts.tokens.isOwn(earlier)) await deleteSessionOf(db, earlier);
  const token = parts.tokens.mint();
  await insertSession(db, {
    personId: person.id,
    token,
    state: person.state,
    ip: clientIp,
    userAgent,
  });
  return token;
}

/** Whether the password alone signs a person in. */
export function stateAfterPassword({ has_totp }: Pick<PersonRow, "has_totp">): State {
  return has_totp ? "second_factor" : "full";
}

/** The answer that gives the browser its cookie. */
export function signedInAnswer(
  { people }: VisitorContext,
  token: string,
  state: State,
): OperationResult {
  return { body: { data: { state } }, headers: { "set-cookie": people.parts.cookie.set(token) } };
}
