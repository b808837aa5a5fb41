import type { IncomingMessage } from "node:http";
import { forwardedClient, type TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import { siteOf } from "../../schemas/net/site.ts";
import type { ApiKeys, FoundKey } from "../access/api-keys.ts";
import { bearerKey, refusalOfKey } from "../access/authorize.ts";
import type { KeyGuesses } from "../access/key-guesses.ts";
import type { RateLimiter } from "../access/rate-limiter.ts";
import type { SignedIn } from "../access/sessions.ts";
import { ApiError } from "../operation/errors.ts";
import type { RateState } from "../operation/operation.ts";
import type { Principal } from "../operation/principal.ts";
import { readSession, type SessionAdmission, type SessionRequest } from "./session-admission.ts";

export type AdmissionDeps = {
  readonly keys: ApiKeys;
  readonly rates: RateLimiter;
  readonly guesses: KeyGuesses;
  readonly trustedProxies: TrustedProxies;
  /** Where sessions of people come in; without it, cookies are not read. */
  readonly sessionAdmission?: SessionAdmission | undefined;
};

/** The caller and the rest of its budget. A request with a `refusal` goes no further. */
export type Admission = {
  readonly requestId: string;
  readonly ip: string;
  readonly nowMs: number;
  /** Undefined without a key or a membership, and for one that is not admitted. */
  readonly principal: Principal | undefined;
  /** The person, if a session counts for this request. */
  readonly signedIn?: SignedIn | undefined;
  readonly rate: RateState;
  readonly isOverBudget: boolean;
  readonly refusal: Error | undefined;
};

/**
 * The first checks of every request, in their order (G02): key, address of the key, workspace and account, budget. Never rejects. A
 * valid key has its own budget; every other request counts on its address. Once an address has used up the budget with unknown
 * keys, further guesses cost Postgres nothing, and a real key still works from there.
 */
export async function admit(
  { id, raw: request }: { readonly id: string; readonly raw: IncomingMessage },
  deps: AdmissionDeps,
): Promise<Admission> {
  const nowMs = Date.now();
  const ip = addressOf(request, deps.trustedProxies);
  const base = { requestId: id, ip, nowMs };
  const { authorization } = request.headers;
  const key = bearerKey(authorization);
  try {
    const bucket = siteOf(ip);
    const session =
      deps.sessionAdmission && (await readSession(request, deps.sessionAdmission, nowMs));
    if (session !== undefined) return await admitSession(deps, { ...base, ...session }, bucket);
    const { found, isGuess } = await identify(deps, { key, bucket, nowMs });
    if (isGuess) return { ...base, ...usedUpRate(deps, nowMs), ...refusedKey(key) };
    const refusal = found === undefined ? refusalWithoutKey(key) : refusalOfKey(found, ip);
    const principal = refusal === undefined ? found?.principal : undefined;
    const counted = await deps.rates.count(
      principal === undefined ? `ip:${bucket}` : holderOf(principal),
    );
    return {
      ...base,
      principal,
      rate: counted,
      isOverBudget: counted.isOver,
      refusal: refusal ?? (counted.isOver ? overBudget(counted) : undefined),
    };
  } catch (error) {
    return {
      ...base,
      ...usedUpRate(deps, nowMs),
      principal: undefined,
      isOverBudget: false,
      refusal: error instanceof Error ? error : new Error(String(error)),
    };
  }
}

/** A person has one budget for all sessions and workspaces. */
async function admitSession(
  { rates }: AdmissionDeps,
  asked: Pick<Admission, "requestId" | "ip" | "nowMs"> & SessionRequest,
  bucket: string,
): Promise<Admission> {
  const { signedIn, refusal } = asked;
  const counted = await rates.count(
    signedIn === undefined ? `ip:${bucket}` : `person:${signedIn.person.id}`,
  );
  const over = counted.isOver ? overBudget(counted) : undefined;
  return {
    ...asked,
    principal: refusal === undefined ? signedIn?.membership?.principal : undefined,
    rate: counted,
    isOverBudget: counted.isOver,
    refusal: signedIn === undefined ? (refusal ?? over) : (over ?? refusal),
  };
}

/** `isGuess`: an unknown key from an address that has used up its budget for unknown keys. */
async function identify(
  { keys, guesses }: AdmissionDeps,
  { key, bucket, nowMs }: { key: string | undefined; bucket: string; nowMs: number },
): Promise<{ readonly found: FoundKey | undefined; readonly isGuess: boolean }> {
  if (key === undefined) return { found: undefined, isGuess: false };
  const isGuesser = guesses.isOver(bucket, nowMs);
  const found = await (isGuesser ? keys.findForGuesser(key, nowMs) : keys.find(key, nowMs));
  if (found === undefined) guesses.note(bucket, nowMs);
  return { found, isGuess: isGuesser && found === undefined };
}

function usedUpRate({ rates }: AdmissionDeps, nowMs: number): Pick<Admission, "rate"> {
  const resetSec = 60 - (Math.floor(nowMs / 1000) % 60);
  return { rate: { limit: rates.limit, remaining: 0, resetSec } };
}

/** 401 before 429 (G02). */
function refusedKey(
  key: string | undefined,
): Pick<Admission, "principal" | "isOverBudget" | "refusal"> {
  return { principal: undefined, isOverBudget: true, refusal: refusalWithoutKey(key) };
}

/**
 * Takes `units` more from the budget of an admitted request that does the work of several requests. If the budget is too small, the
 * whole request is refused. Rejects when Postgres is away.
 */
export async function admitFurther(
  admission: Admission,
  { rates }: Pick<AdmissionDeps, "rates">,
  units: number,
): Promise<Admission> {
  const { principal } = admission;
  if (principal === undefined || units === 0) return admission;
  const counts = await Promise.all(
    Array.from({ length: units }, async () => await rates.count(holderOf(principal))),
  );
  const rate = counts.at(-1) ?? admission.rate;
  const isOverBudget = counts.some(({ isOver }) => isOver);
  return { ...admission, rate, isOverBudget, refusal: isOverBudget ? overBudget(rate) : undefined };
}

function holderOf({ actor }: Principal): string {
  return `${actor.kind}:${actor.id}`;
}

const WITHOUT_KEY: ReadonlySet<string> = new Set(["missing_api_key", "sign_in_required"]);

/** The refusal for a path that needs no key (G04). A key that is sent is still checked. */
export function refusalWithoutNeedOfKey({
  refusal,
  rate,
  isOverBudget,
}: Admission): Error | undefined {
  const isWithoutKey = refusal instanceof ApiError && WITHOUT_KEY.has(refusal.code);
  if (!isWithoutKey) return refusal;
  return isOverBudget ? overBudget(rate) : undefined;
}

function overBudget({ resetSec }: RateState): ApiError {
  return new ApiError("rate_limited", "the budget of this minute is used up", {
    headers: { "retry-after": String(resetSec) },
  });
}

export function headersOf({ requestId, rate, signedIn }: Admission): Record<string, string> {
  return {
    // 0: the membership is gone, or none was named.
    ...(signedIn && {
      "x-tracker-membership-version": String(signedIn.membership?.version ?? 0),
    }),
    "x-request-id": requestId,
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.resetSec),
  };
}

function refusalWithoutKey(key: string | undefined): ApiError {
  const headers = { "www-authenticate": "Bearer" };
  return key === undefined
    ? new ApiError("missing_api_key", "send the header Authorization: Bearer <API_KEY>", {
        headers,
      })
    : new ApiError("invalid_api_key", "this key is unknown, expired or revoked", { headers });
}

function addressOf(request: IncomingMessage, trusted: TrustedProxies): string {
  const header = request.headers["x-forwarded-for"];
  const chain = Array.isArray(header) ? header.join(",") : (header ?? "");
  // A link-local peer address has a zone suffix, which is not part of the address.
  const peerIp = request.socket.remoteAddress?.replace(/%.*$/, "") ?? "";
  return forwardedClient(peerIp, chain, trusted).ip;
}
