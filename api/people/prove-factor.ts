import { ApiError } from "../operation/errors.ts";
import { findTotp, useRecoveryCode, useTotpStep } from "./factors.ts";
import type { PersonContext } from "./people-context.ts";
import { noteLater } from "./person-audit.ts";
import { countAttempt, forgetAttempts, holderOfFactor } from "./throttle.ts";
import { matchingStep } from "./totp.ts";

const TOTP_CODE = /^\d{6}$/;

/** The owner of a sealed secret of TOTP. */
export function totpOwner(personId: number): string {
  return `totp of person ${personId}`;
}

/**
 * Runs a check of a factor of somebody who has a session, within the limits for guesses.
 * @throws {ApiError} `forbidden` if it fails, `rate_limited` after too many attempts.
 */
export async function proveFactor(
  context: PersonContext,
  check: () => Promise<boolean>,
): Promise<void> {
  const { db, signedIn } = context;
  const personId = signedIn.person.id;
  const holder = holderOfFactor(personId);
  await countAttempt(db, holder);
  if (await check()) {
    await forgetAttempts(db, [holder]);
    return;
  }
  noteLater(context, { personId, event: "second-factor-failed", status: 403 });
  throw new ApiError("forbidden", "this is wrong, or was used before");
}

/** Whether it is the current code of the authenticator, or an unused recovery code. Each counts once. */
export async function isRightCode(context: PersonContext, code: string): Promise<boolean> {
  const { db, signedIn, people, nowMs } = context;
  const personId = signedIn.person.id;
  const given = code.replaceAll(/\s/g, "");
  const totp = await findTotp(db, personId);
  if (totp?.is_confirmed !== true) return false;
  if (!TOTP_CODE.test(given)) {
    const isRight = await useRecoveryCode(db, personId, given);
    if (isRight) noteLater(context, { personId, event: "recovery-code-used" });
    return isRight;
  }
  const secret = people.parts.box?.open(totp.sealed, totpOwner(personId));
  const step = secret === undefined ? undefined : matchingStep(secret, given, nowMs);
  return step !== undefined && (await useTotpStep(db, personId, step));
}
