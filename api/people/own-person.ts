import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError, validationFailed } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { FRESH_WRITES, SIGNED_IN_WRITES } from "./access-of-people.ts";
import { newPassword, passwordFault } from "./password-fault.ts";
import { getPerson, setPasswordHash, updateOwnPerson } from "./people.ts";
import { Done, personName, preferences, shownPreferences } from "./people-fields.ts";
import { personOperation } from "./people-operation.ts";
import { noteLater } from "./person-audit.ts";
import { deleteOtherSessions, renewSession } from "./session-rows.ts";

export const updatePerson: Operation = personOperation({
  name: "updatePerson",
  method: "PATCH",
  path: "/person",
  tag: "People",
  summary: "Change the own name and preferences",
  access: SIGNED_IN_WRITES,
  input: {
    body: z.strictObject({ name: personName.optional(), preferences: preferences.optional() }),
  },
  output: z.strictObject({
    data: z
      .strictObject({
        id: z.int(),
        email: z.string(),
        name: z.string(),
        preferences: shownPreferences,
      })
      .meta({ id: "Person" }),
  }),
  status: 200,
  run: async ({ db, signedIn }, { body }) => {
    const { id } = signedIn.person;
    await updateOwnPerson(db, id, { name: body.name, preferences: body.preferences });
    const person = await getPerson(db, id);
    const { email, name } = person;
    return { body: { data: { id, email, name, preferences: person.preferences } } };
  },
});

export const setPassword: Operation = personOperation({
  name: "setPassword",
  method: "POST",
  path: "/person/password",
  tag: "People",
  summary: "Set the own password",
  description: "All other sessions end.",
  access: FRESH_WRITES,
  input: { body: z.strictObject({ password: newPassword }) },
  output: z.strictObject({ data: Done }),
  status: 200,
  run: async (context, { body }) => {
    const { db, signedIn, people } = context;
    const { parts } = people;
    const { id } = signedIn.person;
    const fault = passwordFault(body.password, signedIn.person);
    if (fault !== undefined) throw validationFailed({ password: fault });
    const passwordHash = await parts.hasher.hash(body.password);
    const token = parts.tokens.mint();
    await inTransaction(db, async (tx) => {
      await setPasswordHash(tx, id, passwordHash);
      await deleteOtherSessions(tx, id, signedIn.sessionId);
      if (!(await renewSession(tx, signedIn.sessionId, token)))
        throw new ApiError("conflict", "the session has ended meanwhile");
    });
    noteLater(context, { personId: id, event: "password-changed" });
    return {
      body: { data: { done: true } },
      headers: { "set-cookie": parts.cookie.set(token) },
    };
  },
});
