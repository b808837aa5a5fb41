import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { givenPassword } from "./password-fault.ts";
import { findPersonByEmail, type PersonRow, replacePasswordHash } from "./people.ts";
import type { VisitorContext } from "./people-context.ts";
import { personEmail, SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import {
  refuseUnsafeAddress,
  signedInAnswer,
  startSession,
  stateAfterPassword,
} from "./start-session.ts";
import { countAttempt, forgetAttempts, holdersOfSignIn } from "./throttle.ts";
import { holdPassword } from "./ways-in.ts";

export const signIn: Operation = visitorOperation({
  name: "signIn",
  method: "POST",
  path: "/sign-in",
  tag: "People",
  summary: "Sign in",
  description: "With e-mail and password. The answer sets the session's cookie.",
  access: ANYONE_WRITES,
  input: { body: z.strictObject({ email: personEmail, password: givenPassword }) },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["sign_in_required", "forbidden"],
  run: async (context, { body }) => {
    const { db, clientIp } = context;
    refuseUnsafeAddress(context);
    const holders = holdersOfSignIn(body.email, clientIp);
    for (const holder of holders) await countAttempt(db, holder);
    const { person, hash } = await provedPerson(context, body);
    await forgetAttempts(db, holders);
    const state = stateAfterPassword(person);
    const token = await inTransaction(db, async (tx) => {
      if (!(await holdPassword(tx, person.id, hash))) throw wrong();
      return await startSession(tx, context, { id: person.id, state });
    });
    noteLater(context, { personId: person.id, event: "signed-in" });
    return signedInAnswer(context, token, state);
  },
});

/** Who it is, and the hash of the password. Known and unknown e-mails take the same steps. @throws {ApiError} */
async function provedPerson(
  context: VisitorContext,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<{ readonly person: PersonRow; readonly hash: string }> {
  const { db, people } = context;
  const { hasher } = people.parts;
  const person = await findPersonByEmail(db, email);
  const stored = person?.password_hash ?? "";
  const isRight = await hasher.verify(person?.password_hash, password);
  if (person !== undefined && isRight && person.status === "active") {
    if (!hasher.isOutdated(stored)) return { person, hash: stored };
    const hash = await hasher.hash(password);
    await replacePasswordHash(db, person.id, { from: stored, to: hash });
    return { person, hash };
  }
  if (person !== undefined)
    noteLater(context, { personId: person.id, event: "sign-in-failed", status: 401 });
  throw wrong();
}

function wrong(): ApiError {
  return new ApiError("sign_in_required", "the e-mail or the password is wrong", {
    headers: { "www-authenticate": "Bearer" },
  });
}
