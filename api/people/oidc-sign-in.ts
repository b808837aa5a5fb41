import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, conflict, notFound } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { insertChallenge, useChallenge } from "./challenges.ts";
import { joinByLink, newPersonByLink, type Signing } from "./join-by-link.ts";
import { findLiveLink, type LinkRow, useLink } from "./links.ts";
import type { OidcIdentity } from "./oidc-client.ts";
import { FLOW_MINUTES, Flow, FlowAnswer, flowId, oidcOf, returnedQuery } from "./oidc-fields.ts";
import { findPersonOfIdentity, insertIdentity, useInvitationsFor } from "./oidc-identities.ts";
import { getPerson } from "./people.ts";
import { linkToken, SignInState } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteInPersonLog } from "./person-audit.ts";
import {
  countAddress,
  refuseUnsafeAddress,
  signedInAnswer,
  startSession,
  stateAfterPassword,
} from "./start-session.ts";

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
    await countAddress(context);
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
    "Issuer and subject identify the person. A first sign-in needs an open invitation for the e-mail that the provider has verified; who is to be an admin needs the link itself.",
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
    await countAddress(context);
    const oidc = oidcOf(context);
    const asked = { id: body.flow_id, schema: Flow };
    const flow = await useChallenge(context.db, "oidc-sign-in", asked);
    if (flow === undefined) throw refused("it took too long, or was used: begin again");
    const identity = await oidc.finish(flow, body.query);
    const { token, state } = await inTransaction(context.db, async (tx) => {
      const { person, event } = await personOf(tx, identity, body.token);
      await noteInPersonLog(tx, context, { personId: person.id, event });
      return { token: await startSession(tx, context, person), state: person.state };
    });
    return signedInAnswer(context, token, state);
  },
});

type Arrival = { readonly person: Signing; readonly event: "signed-in" | "joined" };

/** Who signs in. The link that was opened is used up, if there is one. @throws {ApiError} */
async function personOf(
  tx: Queryable,
  identity: OidcIdentity,
  token: string | undefined,
): Promise<Arrival> {
  const known = await findPersonOfIdentity(tx, identity);
  if (known === undefined) return { person: await newcomer(tx, identity, token), event: "joined" };
  const person = await getPerson(tx, known);
  if (person.status !== "active") throw refused("this person is not active");
  const signing = { id: person.id, state: stateAfterPassword(person) };
  if (token === undefined) return { person: signing, event: "signed-in" };
  await joinByLink(tx, await usedLink(tx, token, person.email), person.id);
  return { person: signing, event: "joined" };
}

async function newcomer(
  tx: Queryable,
  identity: OidcIdentity,
  token: string | undefined,
): Promise<Signing> {
  const { email, name } = identity;
  if (email === undefined) throw refused("the identity provider has not verified the e-mail");
  const [link, ...more] =
    token === undefined
      ? await useInvitationsFor(tx, email)
      : [await usedLink(tx, token, email, "first_admin")];
  if (link === undefined)
    throw refused("nobody has invited this e-mail: open the link that you were sent");
  const person = await newPersonByLink(tx, link, { email, name, passwordHash: null });
  for (const other of more) await joinByLink(tx, other, person.id);
  await insertIdentity(tx, identity, person.id);
  return person;
}

/** A link that was opened on the way. Nobody takes over one that invites another e-mail. @throws {ApiError} */
async function usedLink(
  tx: Queryable,
  token: string,
  email: string,
  orKind?: LinkRow["kind"],
): Promise<LinkRow> {
  const link = await findLiveLink(tx, token);
  if (link === undefined) throw notFound("link, or it was used or is over");
  if (link.kind !== "invitation" && link.kind !== orKind)
    throw conflict("token", "this link is not for the identity provider");
  if (link.kind === "invitation" && link.email?.toLowerCase() !== email.toLowerCase())
    throw conflict("email", "this invitation is for another e-mail than that of the provider");
  if (!(await useLink(tx, token))) throw notFound("link, or it was used or is over");
  return link;
}

function refused(why: string): ApiError {
  return new ApiError("sign_in_required", `no sign-in: ${why}`, {
    headers: { "www-authenticate": "Bearer" },
  });
}
