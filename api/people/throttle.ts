import { hash } from "node:crypto";
import { siteOf } from "../../schemas/net/site.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { ApiError } from "../operation/errors.ts";

/** How many attempts are free, and how long further ones wait. */
type Policy = {
  readonly free: number;
  readonly firstWaitSec: number;
  readonly waitSecMax: number;
  /** How long attempts are counted: since the last attempt, or since the first. */
  readonly windowSec: number;
  readonly sinceLast: boolean;
};

/** What attempts are counted for. */
export type Holder = { readonly name: string; readonly policy: Policy };

const GUESSES: Policy = {
  free: 5,
  firstWaitSec: 30,
  waitSecMax: 900,
  windowSec: 86_400,
  sinceLast: true,
};
/** Guesses from many addresses at one person. */
const OF_EMAIL: Policy = {
  free: 100,
  firstWaitSec: 3_600,
  waitSecMax: 3_600,
  windowSec: 3_600,
  sinceLast: false,
};

const RESETS_AN_HOUR = 3;
const SIGN_UPS_AN_HOUR = 10;

/** Known and unknown e-mails are counted alike. They are hashed, because strangers choose them. */
export function holdersOfSignIn(email: string, ip: string): readonly [Holder, Holder] {
  const who = hash("sha256", email.toLowerCase(), "base64url");
  return [
    { name: `pair:${who}:${siteOf(ip)}`, policy: GUESSES },
    { name: `email:${who}`, policy: OF_EMAIL },
  ];
}

/** Guesses at a factor of somebody who is already known. */
export function holderOfFactor(personId: number): Holder {
  return { name: `factor:${personId}`, policy: GUESSES };
}

/** Links for a new password that somebody asks for. */
export function holderOfResets(email: string): Holder {
  const who = hash("sha256", email.toLowerCase(), "base64url");
  return { name: `reset:${who}`, policy: { ...OF_EMAIL, free: RESETS_AN_HOUR } };
}

/** Applications from one address. */
export function holderOfSignUps(ip: string): Holder {
  const policy = {
    free: SIGN_UPS_AN_HOUR,
    firstWaitSec: 3_600,
    waitSecMax: 3_600,
    windowSec: 3_600,
    sinceLast: false,
  };
  return { name: `sign-up:${siteOf(ip)}`, policy };
}

/** Counts attempts of a holder in the present minute. */
export type AttemptCounter = {
  readonly count: (
    holder: string,
  ) => Promise<{ readonly isOver: boolean; readonly resetSec: number }>;
};

/**
 * Counts an attempt of an address, before anything of its body is read: whoever is over the limit may send what he likes (G215).
 * @throws {ApiError} `rate_limited`
 */
export async function countAddress(attempts: AttemptCounter, ip: string): Promise<void> {
  const counted = await attempts.count(`sign-in:${siteOf(ip)}`);
  if (counted.isOver) throw tooManyAttempts(counted.resetSec);
}

/**
 * Counts an attempt before it is judged, so that attempts at the same time cannot share a free one. A time long ago marks who may go on: the clock
 * of a statement that waited for another is behind the other's clock.
 * @throws {ApiError} `rate_limited` if the holder has to wait.
 */
export async function countAttempt(db: Queryable, { name, policy }: Holder): Promise<void> {
  const { rows } = await db.query<{ is_blocked: boolean; wait_sec: number | null }>({
    name: "count-attempt",
    text: `with counted as (
             insert into sign_in_throttle as t (holder, failures, counted_until, blocked_until)
             values ($1, 1, now() + make_interval(secs => $5), 'epoch')
             on conflict (holder) do update set
               failures = case when t.counted_until <= now() then 1 else t.failures + 1 end,
               counted_until = case when $6 or t.counted_until <= now() then now() + make_interval(secs => $5)
                                    else t.counted_until end,
               blocked_until = case when t.counted_until > now() and t.failures + 1 >= $2
                 then now() + make_interval(secs => least($4, $3 * 2.0 ^ least(t.failures + 1 - $2, 20))) else 'epoch' end
             where t.blocked_until <= now()
             returning failures)
           select (select failures from counted) is null as is_blocked,
             (select ceil(extract(epoch from t.blocked_until - now()))::integer from sign_in_throttle t
              where t.holder = $1 and not exists (select from counted)) as wait_sec`,
    values: [
      name,
      policy.free,
      policy.firstWaitSec,
      policy.waitSecMax,
      policy.windowSec,
      policy.sinceLast,
    ],
  });
  const [counted] = rows;
  // The statement does not see how long an attempt at the same moment blocks.
  if (counted?.is_blocked !== false) throw tooManyAttempts(Math.max(1, counted?.wait_sec ?? 0));
}

/** After a success: counts since the last attempt are forgotten; in a window, this attempt is taken back. */
export async function forgetAttempts(db: Queryable, holders: readonly Holder[]): Promise<void> {
  const names = (sinceLast: boolean): string[] =>
    holders.filter(({ policy }) => policy.sinceLast === sinceLast).map(({ name }) => name);
  await db.query({
    name: "forget-attempts",
    text: `with gone as (delete from sign_in_throttle where holder = any($1))
           update sign_in_throttle set failures = greatest(failures - 1, 0), blocked_until = 'epoch'
           where holder = any($2)`,
    values: [names(true), names(false)],
  });
}

function tooManyAttempts(waitSec: number): ApiError {
  return new ApiError("rate_limited", `too many attempts: try again in ${waitSec} seconds`, {
    headers: { "retry-after": String(waitSec) },
  });
}
