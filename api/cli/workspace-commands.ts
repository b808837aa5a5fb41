import { randomUUID } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { insertAuditEntry } from "../access/audit-log.ts";
import { getWorkspace as readWorkspace } from "../catalog/workspace/get-workspace.ts";
import { updateWorkspace } from "../catalog/workspace/update-workspace.ts";
import { fieldKinds, valueOf } from "../http/field-values.ts";
import type { Command, CommandArguments } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { fieldLines } from "./field-lines.ts";
import { IN_WORKSPACE, JSON_OUTPUT, SET_STATUS } from "./options.ts";
import { byCommandLine, call, inWorkspace, type ShownRecord } from "./session.ts";
import { table } from "./table.ts";
import { createWorkspace, listWorkspaces, readNewWorkspace, type Workspace } from "./workspaces.ts";

const LISTED_MAX = 10_000;

const list: Command = {
  name: "workspace list",
  summary: "every workspace of this installation",
  options: JSON_OUTPUT,
  examples: ["workspace list"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const found = await listWorkspaces(db, LISTED_MAX + 1);
      if (found.length > LISTED_MAX)
        throw new CommandError(`There are more than ${LISTED_MAX} workspaces.`);
      if (given.has("json")) return JSON.stringify(found.map(withoutToken), null, 2);
      return table(
        [
          { title: "ID", value: ({ id }) => id },
          { title: "SLUG", value: ({ slug }) => slug },
          { title: "NAME", value: ({ name }) => name },
          { title: "STATUS", value: ({ status }) => status },
          { title: "TIME ZONE", value: ({ timezone }) => timezone },
          { title: "CURRENCY", value: ({ currency }) => currency },
        ],
        found,
        "There is no workspace. `workspace create` creates one.",
      );
    }),
};

function withoutToken({ postback_token: _token, ...shown }: Workspace) {
  return shown;
}

const create: Command = {
  name: "workspace create",
  summary: "creates a workspace with its owner and an admin key",
  options: {
    name: { value: "N", summary: "of the workspace", isRequired: true },
    slug: { value: "S", summary: "name in commands; default: derived from the name" },
    timezone: { value: "TZ", summary: "of its reports; default: UTC" },
    currency: { value: "CUR", summary: "of its accounts; default: USD" },
  },
  examples: [
    'workspace create --name "Acme Media" --slug acme --timezone Europe/Berlin --currency EUR',
  ],
  notes:
    "The first workspace gets the host of TRACKING_URL as its tracking domain. Any other adds its own with\n" +
    "`domain add`, or uses another workspace's host after `domain share`.",
  run: async (given, environment) => {
    const workspace = readNewWorkspace({
      name: given.required("name"),
      slug: given.text("slug"),
      timezone: given.text("timezone"),
      currency: given.text("currency"),
    });
    return await withDatabase(environment, async (db) => {
      const { trackingUrl } = environment;
      const created = await createWorkspace(db, { ...workspace, trackingUrl }, noteCreated);
      return [
        `Workspace ${created.id} (${created.slug}) is created.`,
        `Postback token: ${created.postbackToken}`,
        `Admin key:      ${created.adminKey}`,
        "The key is shown only this once: keep it.",
        ...(created.hasDomain ? [] : [howToAddDomain(created.slug, trackingUrl)]),
      ].join("\n");
    });
  },
};

async function noteCreated(tx: Queryable, created: { readonly id: number }): Promise<void> {
  await insertAuditEntry(tx, {
    principal: byCommandLine(created),
    action: "cli workspace create",
    ip: null,
    status: 201,
    requestId: randomUUID(),
  });
}

/** The host of TRACKING_URL belongs to the first workspace (G200). */
function howToAddDomain(slug: string, trackingUrl: string): string {
  return [
    "It has no tracking domain yet, so its links have no host. Add one with either command:",
    `  domain add go.example.com --workspace ${slug} --default`,
    `  domain share ${new URL(trackingUrl).host} --with ${slug}`,
  ].join("\n");
}

const status: Command = {
  name: "workspace status",
  summary: "switches a workspace off or on",
  options: { ...IN_WORKSPACE, ...SET_STATUS },
  examples: ["workspace status --workspace acme --set inactive"],
  run: async (given, environment) => {
    const set = given.required("set");
    if (set !== "active" && set !== "inactive")
      throw new UsageError("--set must be active or inactive.");
    return await inWorkspace(
      { command: "workspace status", given, environment },
      async (session) => {
        await call(session, updateWorkspace, { body: { status: set } });
        return `Workspace ${session.context.workspace.slug} is ${set}.`;
      },
    );
  },
};

const show: Command = {
  name: "workspace settings show",
  summary: "all settings of a workspace",
  options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
  examples: ["workspace settings show --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "workspace settings show", given, environment }, async (session) =>
      settingsText(await call(session, readWorkspace, {}), given),
    ),
};

/** Leaves out the postback token, which is a secret and no setting. */
function settingsText(
  { postback_token: _token, ...settings }: ShownRecord,
  given: CommandArguments,
): string {
  return given.has("json") ? JSON.stringify(settings, null, 2) : fieldLines(settings);
}

const set: Command = {
  name: "workspace settings set",
  operand: {
    name: "FIELD=VALUE",
    summary: "setting and its new value; several at once are set together or not at all",
    isRepeated: true,
  },
  summary: "changes settings of a workspace",
  options: IN_WORKSPACE,
  examples: [
    "workspace settings set ip_storage=truncated --workspace acme",
    "workspace settings set 'allowed_destinations=shop.example|blog.example' --workspace acme",
    "workspace settings set 'fraud_checks={\"bot\":true}' --workspace acme",
  ],
  notes:
    "Members of a list are separated by |, objects are JSON, and null removes a value. The fields are those of\n" +
    "`workspace settings show`.",
  run: async (given, environment) => {
    const body = Object.fromEntries(given.operands.map(readPair));
    return await inWorkspace(
      { command: "workspace settings set", given, environment },
      async (session) => {
        await call(session, updateWorkspace, { body });
        return `Set: ${Object.keys(body).join(", ")}.`;
      },
    );
  },
};

const KINDS = fieldKinds(updateWorkspace.input.body);

function readPair(pair: string): [string, unknown] {
  const end = pair.indexOf("=");
  if (end < 1) throw new UsageError(`"${pair}" is not of the form FIELD=VALUE.`);
  const field = pair.slice(0, end);
  const text = pair.slice(end + 1);
  const kind = KINDS.get(field);
  if (kind === undefined) {
    throw new UsageError(
      `There is no setting ${field}. Settings: ${[...KINDS.keys()].join(", ")}.`,
    );
  }
  return [field, text === "null" && kind.isNullable ? null : valueOf(kind, text)];
}

export const workspaceCommands: readonly Command[] = [list, create, status, show, set];
