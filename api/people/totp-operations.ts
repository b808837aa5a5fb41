import { randomBytes } from "node:crypto";
import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, notFound, unavailable } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { FRESH_WRITES } from "./access-of-people.ts";
import { deleteTotp, findTotp, insertTotp, replaceRecoveryCodes, useTotpStep } from "./factors.ts";
import { Done, factorCode } from "./people-fields.ts";
import { personOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import { proveFactor, totpOwner } from "./prove-factor.ts";
import { base32, matchingStep, otpauthUri } from "./totp.ts";
import { holdSession } from "./ways-in.ts";

const SECRET_BYTES = 20;
const ISSUER = "Tracker";

const RecoveryCodes = z
  .strictObject({
    recovery_codes: z.array(z.string()).meta({
      description: "Ten codes that work once each instead of a code. Only this answer has them",
    }),
  })
  .meta({ id: "RecoveryCodes" });

export const startTotp: Operation = personOperation({
  name: "startTotp",
  method: "POST",
  path: "/person/totp",
  tag: "People",
  summary: "Begin to set up codes",
  description: "Codes as the second factor. Confirm them with a first code.",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({
    data: z
      .strictObject({
        secret: z.string().meta({ description: "In base32, to type into an authenticator" }),
        uri: z.string().meta({ description: "The same as otpauth address, for a QR code" }),
      })
      .meta({ id: "TotpSetup" }),
  }),
  status: 200,
  failures: ["conflict"],
  run: async ({ db, signedIn, people, settings }) => {
    const { id, email } = signedIn.person;
    const { box } = people.parts;
    if (box === undefined) throw unavailable("CONSOLE_SECRET, which seals second factors,");
    const secret = randomBytes(SECRET_BYTES);
    await inTransaction(db, async (tx) => {
      await holdSession(tx, signedIn);
      if (!(await insertTotp(tx, id, box.seal(secret, totpOwner(id)))))
        throw new ApiError("conflict", "codes are set up already: remove them first");
    });
    const issuer = `${ISSUER} ${new URL(settings.apiUrl).hostname}`;
    const data = { secret: base32(secret), uri: otpauthUri(secret, email, issuer) };
    return { body: { data } };
  },
});

export const confirmTotp: Operation = personOperation({
  name: "confirmTotp",
  method: "POST",
  path: "/person/totp/confirm",
  tag: "People",
  summary: "Confirm the codes",
  description: "With a first code. Answers the recovery codes.",
  access: FRESH_WRITES,
  input: { body: z.strictObject({ code: factorCode }) },
  output: z.strictObject({ data: RecoveryCodes }),
  status: 200,
  failures: ["conflict", "not_found"],
  run: async (context, { body }) => {
    const { db, signedIn, people, nowMs } = context;
    const { id } = signedIn.person;
    const totp = await findTotp(db, id);
    if (totp === undefined) throw notFound("second factor");
    if (totp.is_confirmed) throw new ApiError("conflict", "codes are set up already");
    const secret = people.parts.box?.open(totp.sealed, totpOwner(id));
    const step = secret && matchingStep(secret, body.code.replaceAll(/\s/g, ""), nowMs);
    let codes: readonly string[] = [];
    await proveFactor(context, async () => {
      if (step === undefined) return false;
      codes = await inTransaction(db, async (tx) => {
        await holdSession(tx, signedIn);
        return (await useTotpStep(tx, id, step)) ? await replaceRecoveryCodes(tx, id) : [];
      });
      return codes.length > 0;
    });
    noteLater(context, { personId: id, event: "totp-added" });
    return { body: { data: { recovery_codes: codes } } };
  },
});

export const removeTotp: Operation = personOperation({
  name: "removeTotp",
  method: "DELETE",
  path: "/person/totp",
  tag: "People",
  summary: "Remove the second factor and its recovery codes",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({ data: Done }),
  status: 200,
  failures: ["not_found"],
  run: async (context) => {
    const personId = context.signedIn.person.id;
    if (!(await deleteTotp(context.db, personId))) throw notFound("second factor");
    noteLater(context, { personId, event: "totp-removed" });
    return { body: { data: { done: true } } };
  },
});

export const makeRecoveryCodes: Operation = personOperation({
  name: "makeRecoveryCodes",
  method: "POST",
  path: "/person/recovery-codes",
  tag: "People",
  summary: "Create recovery codes",
  description: "Ten new ones. Earlier ones count no more.",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({ data: RecoveryCodes }),
  status: 200,
  failures: ["not_found"],
  run: async (context) => {
    const { signedIn } = context;
    const personId = signedIn.person.id;
    const codes = await inTransaction(context.db, async (tx) => {
      await holdSession(tx, signedIn);
      const totp = await findTotp(tx, personId);
      if (totp?.is_confirmed !== true) throw notFound("second factor");
      return await replaceRecoveryCodes(tx, personId);
    });
    noteLater(context, { personId, event: "recovery-codes-made" });
    return { body: { data: { recovery_codes: codes } } };
  },
});
