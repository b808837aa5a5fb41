import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, conflict, notFound, validationFailed } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { joinByLink, newPersonByLink, type Signing } from "./join-by-link.ts";
import { findLiveLink, type LinkRow, useLink } from "./links.ts";
import { newPassword, passwordFault } from "./password-fault.ts";
import { getPerson, setPasswordHash } from "./people.ts";
import type { VisitorContext } from "./people-context.ts";
import { linkToken, personEmail, personName, SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteInPersonLog } from "./person-audit.ts";
import { deleteOtherSessions } from "./session-rows.ts";
import {
  countAddress,
  refuseUnsafeAddress,
  signedInAnswer,
  startSession,
  stateAfterPassword,
} from "./start-session.ts";

const Body = z.strictObject({
  token: linkToken,
  email: personEmail.optional().meta({ description: "Of the first admin" }),
  name: personName.optional().meta({ description: "Of a new person" }),
  password: newPassword.optional(),
});

export const redeemLink: Operation = visitorOperation({
  name: "redeemLink",
  method: "POST",
  path: "/one-time-links/redeem",
  tag: "People",
  summary: "Use a one-time link",
  description:
    "To become the first admin, to join, or to set a new password. A new person gives name and password. Somebody who has signed in with the e-mail of an invitation gives only the token.",
  access: ANYONE_WRITES,
  input: { body: Body },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["not_found", "conflict", "forbidden"],
  run: async (context, { body }) => {
    refuseUnsafeAddress(context);
    await countAddress(context);
    const link = await findLiveLink(context.db, body.token);
    if (link === undefined) throw noSuchLink();
    const { signedIn } = context.people;
    if (link.kind === "invitation" && signedIn?.state === "full")
      return await joinAs(context, { token: body.token, link }, signedIn.person);
    const { email, name, password } = wantedFrom(link, body);
    const about = await aboutWhom(context.db, link, { email, name });
    const fault = passwordFault(password, about);
    if (fault !== undefined) throw validationFailed({ password: fault });
    // Before the transaction: others may wait for the two places.
    const hash = await context.people.parts.hasher.hash(password);
    const given = { ...about, passwordHash: hash };
    const { token, state } = await inTransaction(context.db, async (tx) => {
      if (!(await useLink(tx, body.token))) throw noSuchLink();
      const person =
        link.kind === "reset"
          ? await resetPerson(tx, link, hash)
          : await newPersonByLink(tx, link, given);
      const event = link.kind === "reset" ? "reset" : "joined";
      await noteInPersonLog(tx, context, { personId: person.id, event });
      return { token: await startSession(tx, context, person), state: person.state };
    });
    return signedInAnswer(context, token, state);
  },
});

function noSuchLink(): ApiError {
  return notFound("link, or it was used or is over");
}

/** What the kind of link needs. @throws {ApiError} `validation_failed` */
function wantedFrom(
  { kind, email: invited }: LinkRow,
  { email, name, password }: z.infer<typeof Body>,
): { readonly email: string; readonly name: string; readonly password: string } {
  const missing = {
    ...(password === undefined ? { password: "required" } : {}),
    ...(kind !== "reset" && name === undefined ? { name: "required" } : {}),
    ...(kind === "first_admin" && email === undefined ? { email: "required" } : {}),
  };
  if (password === undefined || Object.keys(missing).length > 0) throw validationFailed(missing);
  return { email: invited ?? email ?? "", name: name ?? "", password };
}

async function aboutWhom(
  db: Queryable,
  { person_id: personId }: LinkRow,
  given: { readonly email: string; readonly name: string },
): Promise<{ readonly email: string; readonly name: string }> {
  if (personId === null) return given;
  const { email, name } = await getPerson(db, personId);
  return { email, name };
}

/** All sessions end; the second factor stays. */
async function resetPerson(
  tx: Queryable,
  { person_id: personId }: LinkRow,
  hash: string,
): Promise<Signing> {
  const person = await getPerson(tx, personId ?? 0);
  if (person.status !== "active") throw new ApiError("forbidden", "this person is not active");
  await setPasswordHash(tx, person.id, hash);
  await deleteOtherSessions(tx, person.id, null);
  return { id: person.id, state: stateAfterPassword(person) };
}

async function joinAs(
  context: VisitorContext,
  { token, link }: { readonly token: string; readonly link: LinkRow },
  person: { readonly id: number; readonly email: string },
): ReturnType<Operation["run"]> {
  if (link.email?.toLowerCase() !== person.email.toLowerCase())
    throw conflict("email", "this invitation is for another e-mail than that of your session");
  await inTransaction(context.db, async (tx) => {
    if (!(await useLink(tx, token))) throw noSuchLink();
    await joinByLink(tx, link, person.id);
    await noteInPersonLog(tx, context, { personId: person.id, event: "joined" });
  });
  return { body: { data: { state: "full" } } };
}
