import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import type { SignedIn } from "../access/sessions.ts";
import { conflict, validationFailed } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import {
  joinByLink,
  type Newcomer,
  personByLink,
  refuseInactive,
  refuseUnproved,
  type Signing,
  unproved,
} from "./join-by-link.ts";
import { getLiveLink, refuseEndedLink, refuseEndedLinkNow, spendLink } from "./judge-link.ts";
import { type Change, mailChange } from "./link-mails.ts";
import { type FoundLink, type LinkRow, provesEmail } from "./links.ts";
import { newPassword, passwordFault } from "./password-fault.ts";
import { getPerson, renewAccount } from "./people.ts";
import type { VisitorContext } from "./people-context.ts";
import { linkToken, personEmail, personName, SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteInPersonLog, type PersonEvent } from "./person-audit.ts";
import { isSameEmail } from "./same-email.ts";
import {
  refuseUnsafeAddress,
  signedInAnswer,
  startSession,
  stateAfterPassword,
} from "./start-session.ts";
import { endWaysIn, holdSession } from "./ways-in.ts";

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
    "To become the first admin, to join, or to set a new password. A new person gives name and password. Somebody who has signed in with the e-mail of an invitation gives only the token. A link ends when its maker loses the right to make it, and a reset when its person is allowed something else. A reset ends all sessions, passkeys and connected identities, by mail also codes. An account whose e-mail is not proved is replaced, and gets name and password anew.",
  access: ANYONE_WRITES,
  input: { body: Body },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["not_found", "conflict", "forbidden"],
  run: async (context, { body }) => {
    refuseUnsafeAddress(context);
    const link = await getLiveLink(context.db, body.token);
    // The link is judged again with its locks. Here a refusal costs no hash.
    await refuseEndedLinkNow(context.db, link);
    const { signedIn } = context.people;
    if (link.kind === "invitation" && signedIn?.state === "full") {
      refuseOtherEmail(link, signedIn);
      const { email_proved: isProved } = await getPerson(context.db, signedIn.person.id);
      if (isProved) return await joinAs(context, { token: body.token, link }, signedIn);
      // Before anybody fills in a form for nothing.
      if (!provesEmail(link)) await refuseUnproved(context.db, link, signedIn.person.id);
    }
    const { email, name, password } = wantedFrom(link, body);
    const about = await aboutWhom(context.db, link, { email, name });
    const fault = passwordFault(password, about);
    if (fault !== undefined) throw validationFailed({ password: fault });
    // Before the transaction: others may wait for the two places.
    const hash = await context.people.parts.hasher.hash(password);
    const given = { ...about, passwordHash: hash, provesEmail: provesEmail(link) };
    const { token, state } = await inTransaction(context.db, async (tx) => {
      await refuseEndedLink(tx, link);
      await spendLink(tx, body.token);
      const {
        id,
        event,
        changed,
        state: newState,
      } = link.kind === "reset" ? await reset(tx, link, hash) : await join(tx, link, given);
      await noteInPersonLog(tx, context, { personId: id, event });
      if (changed !== undefined) await mailChange(tx, context, changed);
      return { state: newState, token: await startSession(tx, context, { id, state: newState }) };
    });
    return signedInAnswer(context, token, state);
  },
});

/** What the use of a link has done. */
type Used = Signing & {
  readonly event: PersonEvent;
  /** The message to the owner of an account that existed before. */
  readonly changed?: Change;
};

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

/**
 * Every other way into the account ends. Codes stay where they protect the owner: they were set up by somebody who had proved the e-mail, and
 * whoever resets it has not done so just now.
 */
async function reset(tx: Queryable, link: FoundLink, passwordHash: string): Promise<Used> {
  const person = await getPerson(tx, link.person_id ?? 0);
  refuseInactive(person);
  const keepsCodes = person.email_proved && !link.is_mailed;
  await endWaysIn(tx, person.id, { keepsCodes });
  await renewAccount(tx, person.id, { passwordHash, isProved: provesEmail(link) });
  const by = link.is_mailed
    ? "a link that was mailed to this address"
    : `a link that ${link.inviter_name ?? "the operator"} has made`;
  const state = stateAfterPassword(await getPerson(tx, person.id));
  return { id: person.id, state, event: "reset", changed: { email: person.email, by, keepsCodes } };
}

async function join(tx: Queryable, link: FoundLink, given: Newcomer): Promise<Used> {
  const { isReplaced, ...person } = await personByLink(tx, link, given);
  if (link.kind === "invitation") await joinByLink(tx, link, person.id);
  if (!isReplaced) return { ...person, event: "joined" };
  const by = `an invitation to ${link.workspace_name ?? "a workspace"}`;
  return { ...person, event: "replaced", changed: { email: given.email, by } };
}

/** @throws {ApiError} `conflict` */
function refuseOtherEmail({ email }: LinkRow, { person }: SignedIn): void {
  if (email === null || !isSameEmail(email, person.email))
    throw conflict("email", "this invitation is for another e-mail than your session's");
}

async function joinAs(
  context: VisitorContext,
  { token, link }: { readonly token: string; readonly link: LinkRow },
  signedIn: SignedIn,
): ReturnType<Operation["run"]> {
  const { person } = signedIn;
  await inTransaction(context.db, async (tx) => {
    await refuseEndedLink(tx, link);
    await holdSession(tx, signedIn);
    if (!(await getPerson(tx, person.id)).email_proved) throw unproved();
    await spendLink(tx, token);
    await joinByLink(tx, link, person.id);
    await noteInPersonLog(tx, context, { personId: person.id, event: "joined" });
  });
  return { body: { data: { state: "full" } } };
}
