import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { ApiError } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { resetMail } from "./link-mails.ts";
import { linkTo, mintLinkToken } from "./links.ts";
import type { Mailer } from "./mailer.ts";
import { findPersonByEmail, lockPeople } from "./people.ts";
import type { VisitorContext } from "./people-context.ts";
import { Done, personEmail } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";
import { noteInPersonLog } from "./person-audit.ts";
import { insertResetLink } from "./reset-links.ts";
import { refuseUnsafeAddress } from "./start-session.ts";
import { countAttempt, holderOfResets } from "./throttle.ts";

export const askForReset: Operation = visitorOperation({
  name: "askForReset",
  method: "POST",
  path: "/sign-in/forgotten",
  tag: "People",
  summary: "Ask for a new password",
  description:
    "Mails a link that is valid for an hour, if a person has the e-mail. The answer does not say so. An e-mail has three an hour.",
  access: ANYONE_WRITES,
  input: { body: z.strictObject({ email: personEmail }) },
  output: z.strictObject({ data: Done }),
  status: 200,
  failures: ["conflict", "forbidden"],
  run: async (context, { body }) => {
    refuseUnsafeAddress(context);
    const { mailer } = context.people.parts;
    if (mailer === undefined)
      throw new ApiError("conflict", "no mail server is set up: ask an admin of your workspace");
    await countAttempt(context.db, holderOfResets(body.email));
    // After the answer, whose time would tell whether the person exists.
    mailLink(context, mailer, body.email).catch((error: unknown) => {
      context.log.error({ err: error }, "mail.not-sent");
    });
    return { body: { data: { done: true } } };
  },
});

/** A process that dies in between has sent nothing: the person asks again. */
async function mailLink(context: VisitorContext, mailer: Mailer, email: string): Promise<void> {
  const { db, settings } = context;
  const person = await findPersonByEmail(db, email);
  if (person?.status !== "active") return;
  const token = mintLinkToken();
  const { email: known } = await inTransaction(db, async (tx) => {
    await lockPeople(tx, { ids: [person.id] });
    const made = await insertResetLink(tx, person.id, { tokens: { mailed: token } });
    await noteInPersonLog(tx, context, { personId: person.id, event: "reset-asked" });
    return made.person;
  });
  await mailer.send(resetMail({ email: known, link: linkTo(settings.apiUrl, token) }));
}
