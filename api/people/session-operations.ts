import { z } from "zod";
import { shownTime } from "../fields/body-fields.ts";
import { pathUuid } from "../http/path-fields.ts";
import { ApiError, notFound, validationFailed } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { SIGNED_IN, SIGNED_IN_WRITES, STARTED_WRITES } from "./access-of-people.ts";
import { givenPassword } from "./password-fault.ts";
import { getPerson } from "./people.ts";
import type { PersonContext } from "./people-context.ts";
import { Done, factorCode, SignInState } from "./people-fields.ts";
import { personOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import { isRightCode, proveFactor } from "./prove-factor.ts";
import {
  deleteSession,
  listSessions as listRows,
  noteProof,
  renewSession,
} from "./session-rows.ts";
import { signedInAnswer } from "./start-session.ts";

export const giveSecondFactor: Operation = personOperation({
  name: "giveSecondFactor",
  method: "POST",
  path: "/sign-in/second-factor",
  tag: "People",
  summary: "Give the second factor",
  description: "The second step of a sign-in.",
  access: STARTED_WRITES,
  input: { body: z.strictObject({ code: factorCode }) },
  output: z.strictObject({ data: SignInState }),
  status: 200,
  failures: ["conflict"],
  run: async (context, { body }) => {
    if (context.signedIn.state === "full")
      throw new ApiError("conflict", "the session has its second factor already");
    await proveFactor(context, async () => await isRightCode(context, body.code));
    return signedInAnswer(context, await renewed(context), "full");
  },
});

export const proveAgain: Operation = personOperation({
  name: "proveAgain",
  method: "POST",
  path: "/sign-in/prove",
  tag: "People",
  summary: "Prove a factor again",
  description: "The password or a code, for what needs a proof of the last 10 minutes.",
  access: SIGNED_IN_WRITES,
  input: {
    body: z.strictObject({ password: givenPassword.optional(), code: factorCode.optional() }),
  },
  output: z.strictObject({ data: Done }),
  status: 200,
  run: async (context, { body }) => {
    const { password, code } = body;
    if ((password === undefined) === (code === undefined))
      throw validationFailed({ password: "give the password or a code" });
    await proveFactor(context, async () => {
      if (code !== undefined) return await isRightCode(context, code);
      const { db, people, signedIn } = context;
      const { password_hash: stored } = await getPerson(db, signedIn.person.id);
      return await people.parts.hasher.verify(stored, password ?? "");
    });
    await noteProof(context.db, context.signedIn.sessionId);
    return { body: { data: { done: true } } };
  },
});

/** Gives the session a new secret after a proof. */
async function renewed({ db, people, signedIn }: PersonContext): Promise<string> {
  const token = people.parts.tokens.mint();
  if (!(await renewSession(db, signedIn.sessionId, token)))
    throw new ApiError("sign_in_required", "the session has ended", {
      headers: { "www-authenticate": "Bearer" },
    });
  return token;
}

export const signOut: Operation = personOperation({
  name: "signOut",
  method: "POST",
  path: "/sign-out",
  tag: "People",
  summary: "Sign out",
  description: "Ends this session. The browser forgets what it has kept.",
  access: STARTED_WRITES,
  input: {},
  output: z.strictObject({ data: Done }),
  status: 200,
  run: async (context) => {
    const { db, people, signedIn } = context;
    await deleteSession(db, signedIn.person.id, signedIn.sessionId);
    noteLater(context, { personId: signedIn.person.id, event: "signed-out" });
    return {
      body: { data: { done: true } },
      headers: {
        "set-cookie": people.parts.cookie.clear(),
        "clear-site-data": '"cache", "storage"',
      },
    };
  },
});

const ShownSession = z
  .strictObject({
    id: z.guid(),
    is_current: z.boolean().meta({ description: "Whether this request belongs to it" }),
    created_at: shownTime,
    last_seen_at: shownTime.meta({ description: "Last request, up to a minute ago" }),
    expires_at: shownTime,
    ip: z.string().nullable().meta({ description: "Address of the sign-in" }),
    user_agent: z.string().meta({ description: "Browser of the sign-in" }),
  })
  .meta({ id: "Session" });

export const listSessions: Operation = personOperation({
  name: "listSessions",
  method: "GET",
  path: "/sessions",
  tag: "People",
  summary: "List own sessions",
  description: "Newest first, at most 50.",
  access: SIGNED_IN,
  input: {},
  output: z.strictObject({ data: z.array(ShownSession) }),
  status: 200,
  run: async ({ db, signedIn }) => {
    const rows = await listRows(db, signedIn.person.id);
    const data = rows.map(({ state: _state, ...row }) => ({
      ...row,
      is_current: row.id === signedIn.sessionId,
    }));
    return { body: { data } };
  },
});

export const endSession: Operation = personOperation({
  name: "endSession",
  method: "DELETE",
  path: "/sessions/{id}",
  tag: "People",
  summary: "End an own session",
  access: SIGNED_IN_WRITES,
  input: { path: z.object({ id: pathUuid }) },
  output: z.strictObject({ data: Done }),
  status: 200,
  run: async (context, { path }) => {
    const personId = context.signedIn.person.id;
    if (!(await deleteSession(context.db, personId, path.id))) throw notFound("session");
    noteLater(context, { personId, event: "session-ended" });
    return { body: { data: { done: true } } };
  },
});
