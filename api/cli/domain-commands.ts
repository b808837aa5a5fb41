import { randomUUID } from "node:crypto";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { insertAuditEntry } from "../access/audit-log.ts";
import {
  trackingDomainAssignments,
  trackingDomains,
} from "../catalog/management/tracking-domains.ts";
import { storedHost } from "../fields/catalog-fields.ts";
import { presentFields } from "../http/patch.ts";
import { affiliateIdOf, offerIdOf } from "./accounts.ts";
import type { Command, CommandOption } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { IN_WORKSPACE, JSON_OUTPUT, SET_STATUS } from "./options.ts";
import {
  byCommandLine,
  call,
  inWorkspace,
  listAll,
  type Session,
  type ShownRecord,
} from "./session.ts";
import { shareHost } from "./shared-hosts.ts";
import { table } from "./table.ts";
import { getWorkspace } from "./workspaces.ts";

const DOMAIN = { name: "HOST", summary: "of the domain, or its id" } as const;

const list: Command = {
  name: "domain list",
  summary: "tracking domains of a workspace",
  options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
  examples: ["domain list --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain list", given, environment }, async (session) => {
      const found = await listAll(session, trackingDomains.list);
      if (given.has("json")) return JSON.stringify(found, null, 2);
      return table(
        [
          { title: "ID", value: ({ id }) => id },
          { title: "HOST", value: (domain) => domain["host"] },
          { title: "SCHEME", value: (domain) => domain["scheme"] },
          { title: "STATUS", value: (domain) => domain["status"] },
          { title: "DEFAULT", value: (domain) => domain["is_default"] },
          { title: "CERTIFICATION", value: (domain) => domain["certification"] },
        ],
        found,
        "There is no domain, so links have no host. `domain add` adds one.",
      );
    }),
};

const add: Command = {
  name: "domain add",
  operand: {
    name: "HOST",
    summary: "as in links, with the port unless it is the default one",
  },
  summary: "adds a host for links",
  options: {
    ...IN_WORKSPACE,
    scheme: { value: "https|http", summary: "default: https" },
    default: { summary: "use it for links without another domain" },
  },
  examples: ["domain add go.acme.example --workspace acme --default"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain add", given, environment }, async (session) => {
      const made = await call(session, trackingDomains.create, {
        body: presentFields({
          host: given.operand,
          scheme: given.text("scheme"),
          is_default: given.has("default"),
        }),
      });
      return `Domain ${made.id} (${String(made["host"])}) is added. Point its DNS at the tracking port, then run \`domain certify\`.`;
    }),
};

const share: Command = {
  name: "domain share",
  operand: { name: "HOST", summary: "of a workspace, as its `domain list` shows it" },
  summary: "lets another workspace use a host for its links too",
  options: {
    with: { value: "S", summary: "slug of the other workspace", isRequired: true },
  },
  examples: ["domain share go.acme.example --with beta"],
  notes:
    "A host belongs to the workspace that added it, and only this command shares it. On a shared host the codes of\n" +
    "offers, partners and smart links are unique over the workspaces that share it: the command fails while two of them have\n" +
    "the same code, and afterwards a second equal code is refused. `domain remove HOST --workspace beta` ends the sharing.",
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const guest = await getWorkspace(db, given.required("with"));
      const { host, owner } = await inTransaction(db, async (tx) => {
        const shared = await shareHost(tx, given.operand, guest);
        for (const workspace of [shared.owner, guest]) {
          await insertAuditEntry(tx, {
            principal: byCommandLine(workspace),
            action: "cli domain share",
            ip: null,
            status: 201,
            requestId: randomUUID(),
          });
        }
        return shared;
      });
      return `The host ${host} of ${owner.slug} is shared with ${guest.slug}: links of both workspaces work on it.`;
    }),
};

/** A command that changes fields of one domain. `state` describes the domain in the message after the change. */
function change(
  words: Pick<Command, "name" | "summary" | "examples">,
  options: Readonly<Record<string, CommandOption>>,
  how: (set: string | undefined) => { readonly body: ShownFields; readonly state: string },
): Command {
  return {
    ...words,
    operand: DOMAIN,
    options: { ...IN_WORKSPACE, ...options },
    run: async (given, environment) =>
      await inWorkspace({ command: words.name, given, environment }, async (session) => {
        const domain = await domainOf(session, given.operand);
        const { body, state } = how(given.text("set"));
        await call(session, trackingDomains.update, { path: { id: String(domain.id) }, body });
        return `Domain ${String(domain["host"])} is ${state}.`;
      }),
  };
}

type ShownFields = Readonly<Record<string, unknown>>;

const setDefault = change(
  {
    name: "domain set-default",
    summary: "makes this the default domain of links",
    examples: ["domain set-default go.acme.example --workspace acme"],
  },
  {},
  () => ({ body: { is_default: true }, state: "the default" }),
);

const setStatus = change(
  {
    name: "domain set-status",
    summary: "switches a domain off or on",
    examples: ["domain set-status go.acme.example --workspace acme --set inactive"],
  },
  SET_STATUS,
  (set = "") => ({ body: { status: set }, state: set }),
);

const certify = change(
  {
    name: "domain certify",
    summary: "records that the domain has its certificate",
    examples: ["domain certify go.acme.example --workspace acme"],
  },
  { set: { value: "certified|pending|not_certified", summary: "default: certified" } },
  (set = "certified") => ({ body: { certification: set }, state: set }),
);

const assign: Command = {
  name: "domain assign",
  operand: DOMAIN,
  summary: "assigns a domain to the links of a partner, an offer or both",
  options: {
    ...IN_WORKSPACE,
    affiliate: { value: "CODE", summary: "code or id of the partner" },
    offer: { value: "CODE", summary: "code or id of the offer" },
  },
  examples: ["domain assign go.acme.example --workspace acme --affiliate ANNA2024"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain assign", given, environment }, async (session) => {
      const domain = await domainOf(session, given.operand);
      const affiliate = given.text("affiliate");
      const offer = given.text("offer");
      const made = await call(session, trackingDomainAssignments.create, {
        body: presentFields({
          domain_id: domain.id,
          affiliate_id: affiliate && (await affiliateIdOf(session.context, affiliate)),
          offer_id: offer && (await offerIdOf(session.context, offer)),
        }),
      });
      return `Assignment ${made.id} is added: these links now use ${String(domain["host"])}.`;
    }),
};

const assignments: Command = {
  name: "domain assignments",
  summary: "the domains assigned to partners and offers",
  options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
  examples: ["domain assignments --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain assignments", given, environment }, async (session) => {
      const found = await listAll(session, trackingDomainAssignments.list);
      if (given.has("json")) return JSON.stringify(found, null, 2);
      const domains = await listAll(session, trackingDomains.list);
      const hosts = new Map(domains.map(({ id, host }) => [id, host]));
      return table(
        [
          { title: "ID", value: ({ id }) => id },
          { title: "HOST", value: (one) => hosts.get(Number(one["domain_id"])) },
          { title: "PARTNER", value: (one) => one["affiliate_id"] ?? "any" },
          { title: "OFFER", value: (one) => one["offer_id"] ?? "any" },
        ],
        found,
        "There is no assignment: all links use the default domain.",
      );
    }),
};

const unassign: Command = {
  name: "domain unassign",
  operand: { name: "ID", summary: "of the assignment, as `domain assignments` shows it" },
  summary: "removes an assignment",
  options: IN_WORKSPACE,
  examples: ["domain unassign 4 --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain unassign", given, environment }, async (session) => {
      await call(session, trackingDomainAssignments.remove, { path: { id: given.operand } });
      return `Assignment ${given.operand} is removed.`;
    }),
};

const remove: Command = {
  name: "domain remove",
  operand: DOMAIN,
  summary: "removes a domain that nothing is assigned to",
  options: IN_WORKSPACE,
  examples: ["domain remove go.acme.example --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "domain remove", given, environment }, async (session) => {
      const domain = await domainOf(session, given.operand);
      await call(session, trackingDomains.remove, { path: { id: String(domain.id) } });
      return `Domain ${String(domain["host"])} is removed.`;
    }),
};

async function domainOf(session: Session, asked: string): Promise<ShownRecord> {
  const found = await listAll(session, trackingDomains.list);
  const domain =
    found.find(({ host }) => host === storedHost(asked)) ??
    found.find(({ id }) => String(id) === asked);
  if (domain === undefined) {
    throw new CommandError(
      `Workspace ${session.context.workspace.slug} has no domain ${asked}: \`domain list\` shows those it has.`,
    );
  }
  return domain;
}

export const domainCommands: readonly Command[] = [
  list,
  add,
  share,
  setDefault,
  setStatus,
  certify,
  assign,
  assignments,
  unassign,
  remove,
];
