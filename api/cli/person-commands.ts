import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { insertAuditEntry } from "../access/audit-log.ts";
import { ROLES } from "../operation/permissions.ts";
import { grantFaults } from "../people/grant-faults.ts";
import {
  insertLink,
  LINK_HOURS,
  type LinkKind,
  type LinkTokens,
  linkTo,
  mintLinkToken,
  type NewLink,
  revokeLinks,
} from "../people/links.ts";
import { findPersonByEmail, hasAdmin, listPeople, lockPeople } from "../people/people.ts";
import { personEmail } from "../people/people-fields.ts";
import { insertResetLink } from "../people/reset-links.ts";
import { listWorkspaceIds } from "../people/workspaces-of-first-admin.ts";
import { affiliateIdOf } from "./accounts.ts";
import type { Command } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { DEMO_SLUG, FIRST_PARTNER } from "./demo.ts";
import { IN_WORKSPACE, JSON_OUTPUT } from "./options.ts";
import { byCommandLine, inWorkspace } from "./session.ts";
import { table } from "./table.ts";
import { findWorkspace } from "./workspaces.ts";

const LISTED_MAX = 10_000;

/** What `--json` prints of a link. */
type MadeLink = { readonly link: string; readonly hours: number };

const firstLink: Command = {
  name: "person first-link",
  summary: "a link by which the first admin signs in; it works once, for a day",
  options: {
    workspace: { value: "SLUG", summary: "make the admin of this workspace only; default: of all" },
    "if-needed": { summary: "prints nothing if somebody is an admin, or nothing is there yet" },
    ...JSON_OUTPUT,
  },
  examples: ["person first-link"],
  notes:
    "Only while no person is an admin. An earlier link of this kind ends. The first admin is the operator of the installation.",
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const slug = given.text("workspace");
      const workspace = slug === undefined ? undefined : await findWorkspace(db, slug);
      if (slug !== undefined && workspace === undefined)
        throw new CommandError(`There is no workspace ${slug}.`);
      if (await hasAdmin(db)) {
        if (given.has("if-needed")) return "";
        throw new CommandError(
          "Somebody is an admin already: invite others in the console, or by `person invite`.",
        );
      }
      const ids = workspace === undefined ? await listWorkspaceIds(db) : [workspace.id];
      if (ids.length === 0 && given.has("if-needed")) return "";
      if (ids.length === 0)
        throw new CommandError("There is no workspace yet: `workspace create` makes one.");
      const made = await makeLink(db, environment.apiUrl, {
        kind: "first_admin",
        command: "person first-link",
        workspaceId: workspace?.id ?? 0,
        insert: async (tx, tokens) => {
          await revokeLinks(tx, "first_admin");
          return await insertLink(tx, tokens, { kind: "first_admin", workspaceId: workspace?.id });
        },
      });
      return shownLink(made, given.has("json"));
    }),
};

const resetLink: Command = {
  name: "person reset-link",
  operand: { name: "EMAIL", summary: "with which the person signs in" },
  summary: "a link by which a person sets a new password; it works once, for an hour",
  options: JSON_OUTPUT,
  examples: ["person reset-link jane@acme.example"],
  notes:
    "Using it ends all sessions, passkeys and connected identities of the person, and proves the e-mail: give it to nobody but its owner. The codes of an authenticator stay, unless the e-mail was not proved before.",
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const person = await findPersonByEmail(db, given.operand);
      if (person === undefined)
        throw new CommandError(
          `Nobody signs in as ${given.operand}: \`person list\` shows who does.`,
        );
      const { id } = person;
      const made = await makeLink(db, environment.apiUrl, {
        kind: "reset",
        command: "person reset-link",
        workspaceId: 0,
        insert: async (tx, tokens) => {
          await lockPeople(tx, { ids: [id] });
          return (await insertResetLink(tx, id, { tokens })).id;
        },
      });
      return shownLink(made, given.has("json"));
    }),
};

const invite: Command = {
  name: "person invite",
  operand: { name: "EMAIL", summary: "with which the person will sign in" },
  summary: "a link by which somebody joins a workspace; it works once, for 7 days",
  options: {
    ...IN_WORKSPACE,
    role: { value: ROLES.join("|"), summary: "what the person may do", isRequired: true },
    affiliate: { value: "CODE", summary: "of a partner: code or id of the account" },
    advertiser: { value: "ID", summary: "of an advertiser" },
    ...JSON_OUTPUT,
  },
  examples: ["person invite jane@acme.example --workspace acme --role admin"],
  notes:
    "Using it proves the e-mail: give it to nobody but its owner. An account that somebody made with this e-mail without proving it is replaced.",
  run: async (given, environment) =>
    await inWorkspace({ command: "person invite", given, environment }, async ({ context }) => {
      const role = ROLES.find((one) => one === given.required("role"));
      if (role === undefined) throw new UsageError(`--role is not one of ${ROLES.join(", ")}.`);
      const email = personEmail.safeParse(given.operand);
      if (!email.success) throw new UsageError(`${given.operand} is not an e-mail address.`);
      const affiliate = given.text("affiliate");
      const advertiser = given.text("advertiser");
      const account = {
        affiliate_id: affiliate === undefined ? undefined : await affiliateIdOf(context, affiliate),
        advertiser_id: advertiser === undefined ? undefined : Number(advertiser),
      };
      const [fault] = Object.entries(await grantFaults(context, { role, ...account }));
      if (fault !== undefined) throw new UsageError(`${fault[0]}: ${fault[1]}.`);
      const made = await makeInvitation(context.db, environment.apiUrl, "person invite", {
        workspaceId: context.workspace.id,
        email: email.data,
        role,
        affiliateId: account.affiliate_id,
        advertiserId: account.advertiser_id,
      });
      return shownLink(made, given.has("json"));
    }),
};

async function makeInvitation(
  db: Pool,
  apiUrl: string,
  command: string,
  invited: Omit<NewLink, "kind"> & { readonly workspaceId: number },
): Promise<MadeLink> {
  const { workspaceId } = invited;
  const insert = async (tx: Queryable, tokens: LinkTokens): Promise<number> =>
    await insertLink(tx, tokens, { ...invited, kind: "invitation" });
  return await makeLink(db, apiUrl, { kind: "invitation", command, workspaceId, insert });
}

/** Makes a link and notes that in the audit log of the workspace, or of none (0). Returns what to print. */
async function makeLink(
  db: Pool,
  apiUrl: string,
  {
    kind,
    command,
    workspaceId,
    insert,
  }: {
    readonly kind: LinkKind;
    readonly command: string;
    readonly workspaceId: number;
    /** Returns the id of the link. */
    readonly insert: (tx: Queryable, tokens: LinkTokens) => Promise<number>;
  },
): Promise<MadeLink> {
  const shown = mintLinkToken();
  await inTransaction(db, async (tx) => {
    const id = await insert(tx, { shown });
    await insertAuditEntry(tx, {
      principal: byCommandLine({ id: workspaceId }),
      action: `cli ${command}`,
      ip: null,
      status: 201,
      requestId: `link ${id}`,
    });
  });
  return { link: linkTo(apiUrl, shown), hours: LINK_HOURS[kind] };
}

function shownLink({ link, hours }: MadeLink, isJson: boolean): string {
  if (isJson) return JSON.stringify({ link, hours }, null, 2);
  return `${link}\nThe link works once, within ${hours} h. It is shown only now.`;
}

const list: Command = {
  name: "person list",
  summary: "people who can sign in, with their workspaces and roles",
  options: JSON_OUTPUT,
  examples: ["person list"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const people = await listPeople(db, LISTED_MAX);
      if (given.has("json")) return JSON.stringify(people, null, 2);
      return table(
        [
          { title: "ID", value: ({ id }) => id },
          { title: "EMAIL", value: ({ email }) => email },
          { title: "NAME", value: ({ name }) => name },
          {
            title: "STATE",
            value: ({ status, is_operator }) => (is_operator ? `${status}, operator` : status),
          },
          { title: "E-MAIL", value: (one) => (one.email_proved ? "proved" : "not proved") },
          { title: "ROLES", value: ({ memberships }) => memberships },
          { title: "LAST SEEN", value: ({ last_seen_at }) => last_seen_at ?? "never" },
        ],
        people,
        "Nobody can sign in. `person first-link` lets the first admin in.",
      );
    }),
};

const demoLinks: Command = {
  name: "person demo-links",
  summary: "links by which a person of each role joins the workspace demo, as JSON",
  options: {},
  examples: ["person demo-links"],
  run: async (_given, environment) =>
    await withDatabase(environment, async (db) => {
      const { rows } = await db.query<DemoAccount>({
        name: "find-accounts-of-demo",
        text: `select w.id as workspace_id, min(f.id) as affiliate_id, min(a.id) as advertiser_id
               from workspace w join affiliate f on f.workspace_id = w.id and f.code = $2
               join advertiser a on a.workspace_id = w.id
               where w.slug = $1 group by w.id`,
        values: [DEMO_SLUG, FIRST_PARTNER.code],
      });
      const [account] = rows;
      if (account === undefined)
        throw new CommandError("There is no workspace demo with its accounts: `demo` makes one.");
      const links: [string, string][] = [];
      for (const role of ROLES) {
        const { link } = await makeInvitation(db, environment.apiUrl, "person demo-links", {
          workspaceId: account.workspace_id,
          email: `${role}@demo.example`,
          role,
          affiliateId: role === "partner" ? account.affiliate_id : null,
          advertiserId: role === "advertiser" ? account.advertiser_id : null,
        });
        links.push([role, link]);
      }
      return JSON.stringify({ sign_in_links: Object.fromEntries(links) }, null, 2);
    }),
};

type DemoAccount = { workspace_id: number; affiliate_id: number; advertiser_id: number };

export const personCommands: readonly Command[] = [firstLink, resetLink, invite, list, demoLinks];
