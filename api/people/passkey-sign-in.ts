import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { insertChallenge, useChallenge } from "./challenges.ts";
import {
  assertion,
  CHALLENGE_MINUTES,
  ChallengeAnswer,
  challengeId,
  PasskeyChallenge,
  siteOfRequest,
} from "./passkey-fields.ts";
import { findPasskey, notePasskeyUse, type PasskeyRow } from "./passkeys.ts";
import type { VisitorContext } from "./people-context.ts";
import { SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import { refuseUnsafeAddress, signedInAnswer, startSession } from "./start-session.ts";
import { holdPerson } from "./ways-in.ts";
import { loadWebAuthn } from "./web-authn.ts";

/** Anyone: the browser names the person. */
const NOBODY = 0;

export const startPasskeySignIn: Operation = visitorOperation({
  name: "startPasskeySignIn",
  method: "POST",
  path: "/sign-in/passkey/options",
  tag: "People",
  summary: "Begin a sign-in with a passkey",
  description: "Answers what the browser needs.",
  access: ANYONE_WRITES,
  input: {},
  output: z.strictObject({ data: ChallengeAnswer }),
  status: 200,
  failures: ["conflict", "forbidden"],
  run: async (context) => {
    refuseUnsafeAddress(context);
    const { generateAuthenticationOptions } = await loadWebAuthn();
    const options = await generateAuthenticationOptions({
      rpID: siteOfRequest(context).rpId,
      userVerification: "required",
    });
    const asked = { challenge: options.challenge, personId: NOBODY };
    const id = await insertChallenge(context.db, "passkey-sign-in", {
      value: asked,
      minutes: CHALLENGE_MINUTES,
    });
    return { body: { data: { challenge_id: id, options } } };
  },
});

export const signInWithPasskey: Operation = visitorOperation({
  name: "signInWithPasskey",
  method: "POST",
  path: "/sign-in/passkey",
  tag: "People",
  summary: "Sign in with a passkey",
  description: "It replaces password and code.",
  access: ANYONE_WRITES,
  input: { body: z.strictObject({ challenge_id: challengeId, response: assertion }) },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["sign_in_required", "conflict", "forbidden"],
  run: async (context, { body }) => {
    refuseUnsafeAddress(context);
    const { db } = context;
    const asked = await useChallenge(db, "passkey-sign-in", {
      id: body.challenge_id,
      schema: PasskeyChallenge,
    });
    const passkey = await findPasskey(db, Buffer.from(body.response.id, "base64url"));
    if (asked === undefined || passkey === undefined) throw refused();
    const counter = await provedCounter(context, passkey, {
      challenge: asked.challenge,
      response: body.response,
    });
    const personId = passkey.person_id;
    const token = await inTransaction(db, async (tx) => {
      const isHeld = await holdPerson(tx, personId);
      if (!isHeld || !(await notePasskeyUse(tx, passkey.id, counter))) throw refused();
      return await startSession(tx, context, { id: personId, state: "full" });
    });
    noteLater(context, { personId, event: "signed-in" });
    return signedInAnswer(context, token, "full");
  },
});

/** The new counter of the passkey. @throws {ApiError} `sign_in_required` */
async function provedCounter(
  context: VisitorContext,
  passkey: PasskeyRow,
  { challenge, response }: { challenge: string; response: z.infer<typeof assertion> },
): Promise<number> {
  const site = siteOfRequest(context);
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id.toString("base64url"),
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
    },
  }).catch((error: unknown) => {
    throw refused(error);
  });
  if (result.verified) return result.authenticationInfo.newCounter;
  noteLater(context, { personId: passkey.person_id, event: "sign-in-failed", status: 401 });
  throw refused();
}

function refused(cause?: unknown): ApiError {
  return new ApiError("sign_in_required", "this passkey does not fit: begin again", {
    cause,
    headers: { "www-authenticate": "Bearer" },
  });
}
