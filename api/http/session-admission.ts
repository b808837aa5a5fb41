import type { IncomingMessage } from "node:http";
import { refusalOfAccount } from "../access/authorize.ts";
import { crossSiteRefusal, membershipOf } from "../access/same-origin.ts";
import type { SessionCookie } from "../access/session-cookie.ts";
import type { Sessions, SignedIn } from "../access/sessions.ts";
import { ApiError } from "../operation/errors.ts";

/** How sessions come in. MCP takes none, so it never reads cookies. */
export type SessionAdmission = {
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly origins: ReadonlySet<string>;
};

/** A request without a key that names a membership, as the console's do. */
export type SessionRequest = {
  readonly signedIn: SignedIn | undefined;
  /** Why it may not run an operation of a workspace. */
  readonly refusal: ApiError | undefined;
};

/** Undefined if the request is not from the console: then the cookie does not count. Rejects when Postgres is away. */
export async function readSession(
  { method, headers }: IncomingMessage,
  admission: SessionAdmission,
  nowMs: number,
): Promise<SessionRequest | undefined> {
  const membershipId = membershipOf(headers);
  if (headers.authorization !== undefined || membershipId === undefined) return undefined;
  const foreign = crossSiteRefusal(method, headers, admission.origins);
  if (foreign !== undefined) return { signedIn: undefined, refusal: foreign };
  const token = admission.cookie.read(headers.cookie);
  const signedIn =
    token === undefined ? undefined : await admission.sessions.find(token, membershipId, nowMs);
  if (signedIn === undefined) return { signedIn, refusal: signInRequired() };
  return { signedIn, refusal: refusalOfSession(signedIn) };
}

export function signInRequired(): ApiError {
  return new ApiError("sign_in_required", "sign in first", {
    headers: { "www-authenticate": "Bearer" },
  });
}

export function refusalOfState({ state }: SignedIn): ApiError | undefined {
  return state === "full"
    ? undefined
    : new ApiError("second_factor_required", "give the second factor first");
}

function refusalOfSession(signedIn: SignedIn): ApiError | undefined {
  const { membership } = signedIn;
  return (
    refusalOfState(signedIn) ??
    (membership === undefined
      ? new ApiError("forbidden", "name one of your memberships in X-Tracker-Membership")
      : refusalOfAccount(membership))
  );
}
