import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { deletedRecord, name, shownTime } from "../fields/body-fields.ts";
import { pathId } from "../http/path-fields.ts";
import { ApiError, notFound } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { FRESH_WRITES, SIGNED_IN } from "./access-of-people.ts";
import { insertChallenge, useChallenge } from "./challenges.ts";
import {
  attestation,
  CHALLENGE_MINUTES,
  ChallengeAnswer,
  challengeId,
  PasskeyChallenge,
  siteOfRequest,
  transportsIn,
} from "./passkey-fields.ts";
import {
  deletePasskey,
  insertPasskey,
  listPasskeys as listRows,
  type PasskeyRow,
} from "./passkeys.ts";
import { personOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import { holdSession } from "./ways-in.ts";
import { loadWebAuthn } from "./web-authn.ts";

const PASSKEYS_MAX = 20;
const RP_NAME = "Tracker";

const ShownPasskey = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    created_at: shownTime,
    last_used_at: shownTime.nullable().meta({ description: "Last sign-in with it" }),
  })
  .meta({ id: "Passkey" });

export const listPasskeys: Operation = personOperation({
  name: "listPasskeys",
  method: "GET",
  path: "/person/passkeys",
  tag: "People",
  summary: "List own passkeys",
  access: SIGNED_IN,
  input: {},
  output: z.strictObject({ data: z.array(ShownPasskey) }),
  status: 200,
  run: async ({ db, signedIn }) => {
    const rows = await listRows(db, signedIn.person.id);
    return { body: { data: rows.map(shown) } };
  },
});

function shown({ id, name: named, created_at, last_used_at }: PasskeyRow): unknown {
  return { id, name: named, created_at, last_used_at };
}

export const startPasskey: Operation = personOperation({
  name: "startPasskey",
  method: "POST",
  path: "/person/passkeys/options",
  tag: "People",
  summary: "Begin to add a passkey",
  description: "Answers what the browser needs.",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({ data: ChallengeAnswer }),
  status: 200,
  failures: ["conflict"],
  run: async (context) => {
    const { db, signedIn } = context;
    const { person } = signedIn;
    const { rpId } = siteOfRequest(context);
    const known = await listRows(db, person.id);
    const { generateRegistrationOptions } = await loadWebAuthn();
    const options = await generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: rpId,
      userName: person.email,
      userDisplayName: person.name,
      userID: Buffer.from(`person ${person.id}`),
      attestationType: "none",
      excludeCredentials: known.map((row) => ({ id: row.credential_id.toString("base64url") })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    const { challenge } = options;
    const value = { challenge, personId: person.id };
    const id = await insertChallenge(db, "passkey", { value, minutes: CHALLENGE_MINUTES });
    return { body: { data: { challenge_id: id, options } } };
  },
});

export const addPasskey: Operation = personOperation({
  name: "addPasskey",
  method: "POST",
  path: "/person/passkeys",
  tag: "People",
  summary: "Add a passkey",
  description: "Keeps one that the browser has made. It replaces password and code.",
  access: FRESH_WRITES,
  input: {
    body: z.strictObject({ challenge_id: challengeId, name: name(), response: attestation }),
  },
  output: z.strictObject({ data: ShownPasskey }),
  status: 201,
  failures: ["conflict"],
  run: async (context, { body }) => {
    const { db, signedIn } = context;
    const personId = signedIn.person.id;
    const site = siteOfRequest(context);
    const asked = await useChallenge(db, "passkey", {
      id: body.challenge_id,
      schema: PasskeyChallenge,
    });
    if (asked?.personId !== personId) throw refused();
    const { verifyRegistrationResponse } = await loadWebAuthn();
    const result = await verifyRegistrationResponse({
      response: body.response,
      expectedChallenge: asked.challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
    }).catch((error: unknown) => {
      throw refused(error);
    });
    if (!result.verified) throw refused();
    const { credential } = result.registrationInfo;
    const passkey = {
      name: body.name,
      credentialId: Buffer.from(credential.id, "base64url"),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: transportsIn(body.response),
    };
    const row = await inTransaction(db, async (tx) => {
      await holdSession(tx, signedIn);
      return await insertPasskey(tx, personId, passkey, PASSKEYS_MAX);
    });
    if (row === undefined)
      throw new ApiError(
        "conflict",
        `the passkey is known already, or the person has ${PASSKEYS_MAX} of them`,
      );
    noteLater(context, { personId, event: "passkey-added" });
    return { body: { data: shown(row) } };
  },
});

function refused(cause?: unknown): ApiError {
  return new ApiError("conflict", "this is no valid passkey for this address: begin again", {
    cause,
  });
}

export const removePasskey: Operation = personOperation({
  name: "removePasskey",
  method: "DELETE",
  path: "/person/passkeys/{id}",
  tag: "People",
  summary: "Remove one of the person's own passkeys",
  access: FRESH_WRITES,
  input: { path: z.object({ id: pathId }) },
  output: z.strictObject({ data: deletedRecord }),
  status: 200,
  run: async (context, { path }) => {
    const personId = context.signedIn.person.id;
    if (!(await deletePasskey(context.db, personId, path.id))) throw notFound("passkey");
    noteLater(context, { personId, event: "passkey-removed" });
    return { body: { data: { id: path.id, deleted: true } } };
  },
});
