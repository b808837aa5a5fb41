import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, conflict } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { insertChallenge, useChallenge } from "./challenges.ts";
import {
  grantByLink,
  joinByLink,
  personByLink,
  refuseUnproved,
  type Signing,
} from "./join-by-link.ts";
import { getLiveLink, refuseEndedLink, spendLink, useInvitationsFor } from "./judge-link.ts";
import { type Change, mailChange } from "./link-mails.ts";
import { type FoundLink, type LinkRow, provesEmail } from "./links.ts";
import type { OidcIdentity } from "./oidc-client.ts";
import { FLOW_MINUTES, Flow, FlowAnswer, flowId, oidcOf, returnedQuery } from "./oidc-fields.ts";
import { findPersonOfIdentity, insertIdentity } from "./oidc-identities.ts";
import { getPerson, lockPeople, type PersonRow, renewAccount } from "./people.ts";
import { linkToken, SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteInPersonLog, type PersonEvent } from "./person-audit.ts";
import { isSameEmail } from "./same-email.ts";
import {
  refuseUnsafeAddress,
  signedInAnswer,
  startSession,
  stateAfterPassword,
} from "./start-session.ts";
import { endWaysIn } from "./ways-in.ts";

export const startOidcSignIn: Operation = visitorOperation({
  name: "startOidcSignIn",
  method: "POST",
  path: "/sign-in/oidc/options",
  tag: "People",
  summary: "Begin a sign-in with the identity provider",
  description:
    "Answers the page of the provider to open. It sends the browser back to the console.",
  access: ANYONE_WRITES,
  input: {},
  output: z.strictObject({ data: FlowAnswer }),
  status: 200,
  failures: ["conflict", "forbidden", "sign_in_required"],
  run: async (context) => {
    refuseUnsafeAddress(context);
    const { url, flow } = await oidcOf(context).begin();
    const value = { ...flow, personId: 0 };
    const id = await insertChallenge(context.db, "oidc-sign-in", { value, minutes: FLOW_MINUTES });
    return { body: { data: { flow_id: id, url } } };
  },
});

export const signInWithOidc: Operation = visitorOperation({
  name: "signInWithOidc",
  method: "POST",
  path: "/sign-in/oidc",
  tag: "People",
  summary: "Sign in with the identity provider",
  description:
    "Issuer and subject identify the person. An account whose e-mail is not proved is replaced once the provider has verified just this e-mail. A first sign-in needs an open invitation for the e-mail that the provider has verified; who is to be an admin needs the link itself.",
  access: ANYONE_WRITES,
  input: {
    body: z.strictObject({
      flow_id: flowId,
      query: returnedQuery,
      token: linkToken.optional().meta({ description: "Of the link that the person has opened" }),
    }),
  },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["sign_in_required", "conflict", "forbidden", "not_found"],
  run: async (context, { body }) => {
    refuseUnsafeAddress(context);
    const oidc = oidcOf(context);
    const asked = { id: body.flow_id, schema: Flow };
    const flow = await useChallenge(context.db, "oidc-sign-in", asked);
    if (flow === undefined) throw refused("it took too long, or was used: begin again");
    const identity = await oidc.finish(flow, body.query);
    const { token, state } = await inTransaction(context.db, async (tx) => {
      const { person, event, changed } = await personOf(tx, identity, body.token);
      await noteInPersonLog(tx, context, { personId: person.id, event });
      if (changed !== undefined) await mailChange(tx, context, changed);
      return { token: await startSession(tx, context, person), state: person.state };
    });
    return signedInAnswer(context, token, state);
  },
});

type Arrival = {
  readonly person: Signing;
  readonly event: PersonEvent;
  /** The message to the owner of an account that existed before. */
  readonly changed?: Change | undefined;
};

/** The person who signs in. If an invitation was opened on the way, it is used up. @throws {ApiError} */
async function personOf(
  tx: Queryable,
  identity: OidcIdentity,
  token: string | undefined,
): Promise<Arrival> {
  const link = token === undefined ? undefined : await usedLink(tx, token);
  const known = await findPersonOfIdentity(tx, identity);
  if (known === undefined) return await newcomer(tx, identity, link);
  await lockPeople(tx, { ids: [known] });
  if ((await findPersonOfIdentity(tx, identity)) !== known)
    throw refused("the account has just been reset: begin again");
  const person = await getPerson(tx, known);
  if (person.status !== "active") throw refused("this person is not active");
  if (link?.kind === "first_admin") throw notForProvider();
  if (link !== undefined) refuseOtherEmail(link, person.email);
  const changed = await replacedBy(tx, { identity, person, link });
  if (link !== undefined) await joinByLink(tx, link, known);
  return {
    person: { id: known, state: stateAfterPassword(await getPerson(tx, known)) },
    event: changed !== undefined ? "replaced" : link !== undefined ? "joined" : "signed-in",
    changed,
  };
}

/**
 * Hands an account whose e-mail nobody has proved to the person who signs in, if the provider or the invitation proves it. Undefined if
 * the account stays as it is.
 * @throws {ApiError} `conflict` if a link would let an unproved account in.
 */
async function replacedBy(
  tx: Queryable,
  {
    identity,
    person,
    link,
  }: {
    readonly identity: OidcIdentity;
    readonly person: PersonRow;
    readonly link: FoundLink | undefined;
  },
): Promise<Change | undefined> {
  if (person.email_proved) return undefined;
  const isVerified = isSameEmail(identity.email ?? "", person.email);
  const isProved = isVerified || (link !== undefined && provesEmail(link));
  if (!isProved && link === undefined) return undefined;
  if (!isProved && link !== undefined) await refuseUnproved(tx, link, person.id);
  await endWaysIn(tx, person.id, { keepsCodes: false });
  await renewAccount(tx, person.id, { passwordHash: null, isProved });
  await insertIdentity(tx, identity, person.id);
  return byProvider(person.email);
}

async function newcomer(
  tx: Queryable,
  identity: OidcIdentity,
  opened: FoundLink | undefined,
): Promise<Arrival> {
  const { email, name } = identity;
  if (email === undefined) throw refused("the identity provider has not verified the e-mail");
  if (opened !== undefined) refuseOtherEmail(opened, email);
  const links = opened === undefined ? await useInvitationsFor(tx, email) : [opened];
  const [link] = links;
  if (link === undefined)
    throw refused("nobody has invited this e-mail: open the link that you were sent");
  const given = { email, name, passwordHash: null, provesEmail: true };
  const { isReplaced, ...person } = await personByLink(tx, link, given);
  for (const one of links) if (one.kind === "invitation") await grantByLink(tx, one, person.id);
  await insertIdentity(tx, identity, person.id);
  if (!isReplaced) return { person, event: "joined" };
  return { person, event: "replaced", changed: byProvider(email) };
}

function byProvider(email: string): Change {
  return { email, by: "a sign-in with the identity provider", password: "none" };
}

/** A link that was opened on the way. @throws {ApiError} */
async function usedLink(tx: Queryable, token: string): Promise<FoundLink> {
  const link = await getLiveLink(tx, token);
  if (link.kind === "reset") throw notForProvider();
  await refuseEndedLink(tx, link);
  await spendLink(tx, token);
  return link;
}

function notForProvider(): ApiError {
  return conflict("token", "this link is not for the identity provider");
}

/** Nobody takes over a link that invites another e-mail. @throws {ApiError} */
function refuseOtherEmail(link: LinkRow, email: string): void {
  if (link.kind === "invitation" && !isSameEmail(link.email ?? "", email))
    throw conflict("email", "this invitation is for another e-mail than the provider's");
}

function refused(why: string): ApiError {
  return new ApiError("sign_in_required", `no sign-in: ${why}`, {
    headers: { "www-authenticate": "Bearer" },
  });
}
