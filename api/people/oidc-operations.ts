import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, notFound } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { FRESH_WRITES } from "./access-of-people.ts";
import { insertChallenge, useChallenge } from "./challenges.ts";
import { FLOW_MINUTES, Flow, FlowAnswer, flowId, oidcOf, returnedQuery } from "./oidc-fields.ts";
import { deleteIdentities, insertIdentity } from "./oidc-identities.ts";
import { getPerson } from "./people.ts";
import { Done } from "./people-fields.ts";
import { personOperation } from "./people-operation.ts";
import { noteInPersonLog } from "./person-audit.ts";
import { holdSession } from "./ways-in.ts";

export const startOidcConnection: Operation = personOperation({
  name: "startOidcConnection",
  method: "POST",
  path: "/person/oidc/options",
  tag: "People",
  summary: "Begin to connect the identity provider",
  description: "Answers the page of the provider to open.",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({ data: FlowAnswer }),
  status: 200,
  failures: ["conflict"],
  run: async (context) => {
    const { db, signedIn } = context;
    const { url, flow } = await oidcOf(context).begin();
    const value = { ...flow, personId: signedIn.person.id };
    const id = await insertChallenge(db, "oidc", { value, minutes: FLOW_MINUTES });
    return { body: { data: { flow_id: id, url } } };
  },
});

export const connectOidc: Operation = personOperation({
  name: "connectOidc",
  method: "POST",
  path: "/person/oidc",
  tag: "People",
  summary: "Connect the identity provider",
  description: "From now on the person signs in with it as well.",
  access: FRESH_WRITES,
  input: { body: z.strictObject({ flow_id: flowId, query: returnedQuery }) },
  output: z.strictObject({ data: Done }),
  status: 200,
  failures: ["conflict"],
  run: async (context, { body }) => {
    const { db, signedIn } = context;
    const personId = signedIn.person.id;
    const oidc = oidcOf(context);
    const flow = await useChallenge(db, "oidc", { id: body.flow_id, schema: Flow });
    if (flow?.personId !== personId)
      throw new ApiError("conflict", "this took too long, or was used: begin again");
    const identity = await oidc.finish(flow, body.query);
    await inTransaction(db, async (tx) => {
      await holdSession(tx, signedIn);
      if ((await insertIdentity(tx, identity, personId)) !== personId)
        throw new ApiError("conflict", "somebody else signs in with this account of the provider");
      await noteInPersonLog(tx, context, { personId, event: "oidc-connected" });
    });
    return { body: { data: { done: true } } };
  },
});

export const disconnectOidc: Operation = personOperation({
  name: "disconnectOidc",
  method: "DELETE",
  path: "/person/oidc",
  tag: "People",
  summary: "Disconnect the identity provider",
  description: "Refused to somebody who would have no other way to sign in.",
  access: FRESH_WRITES,
  input: {},
  output: z.strictObject({ data: Done }),
  status: 200,
  failures: ["conflict", "not_found"],
  run: async (context) => {
    const { db, signedIn } = context;
    const personId = signedIn.person.id;
    const { password_hash: password, passkeys } = await getPerson(db, personId);
    if (password === null && passkeys === 0)
      throw new ApiError("conflict", "set a password or add a passkey first");
    await inTransaction(db, async (tx) => {
      if (!(await deleteIdentities(tx, personId))) throw notFound("account of the provider");
      await noteInPersonLog(tx, context, { personId, event: "oidc-removed" });
    });
    return { body: { data: { done: true } } };
  },
});
