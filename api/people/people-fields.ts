import { z } from "zod";
import { shownSchema } from "../access/visibility.ts";
import { email, name, oneOf, recordId, shownTime, text } from "../fields/body-fields.ts";
import { listOf } from "../fields/bounded-list.ts";
import { recordIds, timezone } from "../fields/catalog-fields.ts";
import { PERMISSIONS, ROLES } from "../operation/permissions.ts";

const TOKEN_MAX = 200;
const CODE_MAX = 40;
/** Every answer with the session carries the columns of the lists, so there is not room for more. */
const LISTS_MAX = 40;
const COLUMNS_MAX = 40;
const LIST_NOTE = "What the console calls the list";
const COLUMNS_NOTE = "In their order; a leading `-` hides one";
const WORD = /^-?[a-z][a-z0-9_-]{0,30}$/;

/** The token of a one-time link. */
export const linkToken = text(TOKEN_MAX).meta({
  description: "What stands behind `#` in the link",
});

/** A code of the authenticator, or a recovery code. */
export const factorCode = text(CODE_MAX).meta({
  description: "Six digits of the authenticator, or a recovery code",
  examples: ["123456"],
});

export const personName = name();
export const personEmail = email;

export const emailProved = z.boolean().meta({
  description:
    "Whether the person has proved to read the mailbox: by a link that was mailed, by the identity provider, or by a link of the operator",
});

/** A name that the console gives to a list or a column of it. */
const listWord = z.string("expected a name").regex(WORD, "expected a short name in lower case");

const listColumns = listOf(
  z.strictObject(
    {
      list: listWord.meta({ description: LIST_NOTE }),
      columns: listOf(listWord, {
        expected: "expected a list of columns",
        max: COLUMNS_MAX,
        tooMany: `expected at most ${COLUMNS_MAX} columns`,
      }).meta({ description: COLUMNS_NOTE }),
    },
    "expected an object",
  ),
  {
    expected: "expected a list of lists",
    max: LISTS_MAX,
    tooMany: `expected at most ${LISTS_MAX} lists`,
  },
);

const shownListColumns = z.array(
  z.strictObject({
    list: z.string().meta({ description: LIST_NOTE }),
    columns: z.array(z.string()).meta({ description: COLUMNS_NOTE }),
  }),
);

/** How the console shows itself to a person. */
export const preferences = z
  .strictObject(
    {
      locale: text(35).nullable().optional(),
      timezone: timezone.nullable().optional(),
      theme: oneOf("light", "dark", "system").nullable().optional(),
      single_key_shortcuts: z.boolean("expected true or false").nullable().optional(),
      table_density: oneOf("comfortable", "dense").nullable().optional(),
      list_columns: listColumns.nullable().optional(),
      first_steps_hidden: recordIds.nullable().optional().meta({
        description: "Ids of the workspaces whose first steps the dashboard no longer shows",
      }),
    },
    "expected an object",
  )
  .meta({ description: "How the console shows itself; null forgets a choice" });

export const shownPreferences = z
  .strictObject({
    locale: z.string(),
    timezone: z.string(),
    theme: z.string(),
    single_key_shortcuts: z.boolean(),
    table_density: z.string(),
    list_columns: shownListColumns,
    first_steps_hidden: z.array(z.int()),
  })
  .partial()
  .meta({ description: "How the console shows itself" });

/** Answer after a sign-in. */
export const SignInState = z
  .strictObject({
    state: z.enum(["full", "second_factor"]).meta({
      description: "`second_factor`: the session counts after `POST /sign-in/second-factor`",
    }),
  })
  .meta({ id: "SignInState" });

/** Answer of an operation that has nothing to say. */
export const Done = z
  .strictObject({ done: z.literal(true).meta({ description: "Always true" }) })
  .meta({ id: "Done" });

const grantedPermissions = listOf(oneOf(...PERMISSIONS), {
  expected: "expected a list of permissions",
  max: PERMISSIONS.length,
  tooMany: `expected at most ${PERMISSIONS.length} permissions`,
})
  .nullable()
  .optional()
  .meta({
    description: "Of staff: the only permissions; null for all permissions of the role",
  });

/** What an invitation or a change of a member names. */
export const grantedAccount = {
  affiliate_id: recordId.nullable().optional(),
  advertiser_id: recordId.nullable().optional(),
  permissions: grantedPermissions,
};

const shownPermissions = z.array(z.enum(PERMISSIONS)).nullable().meta({
  description: "The only permissions of a staff member; null for all of the role",
});

export const ShownMember = shownSchema("member", {
  id: z.int(),
  person_id: z.int().meta({ description: "Id of the person, who may be a member elsewhere" }),
  name: z.string(),
  email: z.string(),
  email_proved: emailProved,
  role: z.enum(ROLES),
  affiliate_id: z.int().nullable(),
  advertiser_id: z.int().nullable(),
  user_id: z.int().nullable(),
  permissions: shownPermissions,
  status: z.enum(["active", "inactive"]),
  version: z.int().meta({ description: "Rises with every change" }),
  has_second_factor: z.boolean().meta({ description: "Whether a code or a passkey is set up" }),
  last_seen_at: shownTime.nullable().meta({ description: "Last request of a session" }),
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "Member" });

export const ShownInvitation = shownSchema("invitation", {
  id: z.int(),
  email: z.string(),
  role: z.enum(ROLES),
  affiliate_id: z.int().nullable(),
  advertiser_id: z.int().nullable(),
  permissions: shownPermissions,
  made_by: z.int().nullable().meta({ description: "Id of the person who invites" }),
  created_at: shownTime,
  expires_at: shownTime,
  used_at: shownTime.nullable().meta({ description: "When the person joined" }),
  revoked_at: shownTime.nullable(),
  link: z.string().meta({
    description: "Works once. Only the answer that makes it contains it",
    examples: ["https://api.example/console/join#…"],
  }),
  mailed: z.boolean().nullable().meta({
    description:
      "Whether the mail server has taken the link. Null without a mail server. Only the answer that makes the link says so",
  }),
})
  .partial({ link: true, mailed: true })
  .meta({ id: "Invitation" });
