import { type ParseArgsConfig, parseArgs } from "node:util";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { assertPostgresMigrated } from "../../schemas/postgres/migrate.ts";
import { UsageError } from "./command-error.ts";
import { type Demo, makeDemo } from "./demo.ts";
import { createKey } from "./keys.ts";
import { migrateStores } from "./migrate-command.ts";
import { findServers, type ServerUrls } from "./servers.ts";
import {
  createWorkspace,
  getWorkspace,
  readNewWorkspace,
  setWorkspaceStatus,
} from "./workspaces.ts";

/** What commands take from the environment. */
export type CommandEnvironment = {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly natsPrefix: string;
  readonly natsReplicas: number;
  readonly servers: { readonly [Name in keyof ServerUrls]: string | undefined };
};

export const USAGE = `Usage: npm run tracker -- <command>

  migrate                                       brings Postgres, ClickHouse and JetStream to this version
  workspace create --name N [--slug S] [--timezone TZ] [--currency CUR]
                                                a workspace with its owner and an admin key
  workspace status --workspace S --set active|inactive
                                                switches a workspace on or off
  key create --workspace S --role admin|analyst|partner|advertiser
             [--affiliate CODE] [--advertiser ID] [--name N]
                                                one more key
  demo [--json] [--new-keys]                    a workspace "demo" to try things in

The servers are those of POSTGRES_URL, NATS_URL and CLICKHOUSE_URL, else those that \`npm start\` runs in DATA_DIR.`;

/**
 * Runs one command and answers what to print. @throws {UsageError} for wrong arguments, {@link CommandError} for what a
 * person can put right.
 */
export async function runCommand(
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<string> {
  const [noun = "", verb = ""] = args;
  switch (verb === "" || verb.startsWith("-") ? noun : `${noun} ${verb}`) {
    case "migrate":
      return await migrate(args.slice(1), environment);
    case "workspace create":
      return await workspaceCreate(args.slice(2), environment);
    case "workspace status":
      return await workspaceStatus(args.slice(2), environment);
    case "key create":
      return await keyCreate(args.slice(2), environment);
    case "demo":
      return await demo(args.slice(1), environment);
    case "":
    case "help":
    case "--help":
      return USAGE;
    default:
      throw new UsageError(`There is no command "${args.slice(0, 2).join(" ")}".`);
  }
}

async function migrate(args: readonly string[], environment: CommandEnvironment): Promise<string> {
  readOptions(args, {}, []);
  const { servers, dataDir, natsPrefix, natsReplicas } = environment;
  const urls = findServers(["postgresUrl", "natsUrl", "clickhouseUrl"], servers, dataDir);
  const lines = await migrateStores(urls, { prefix: natsPrefix, replicas: natsReplicas });
  return lines.join("\n");
}

async function workspaceCreate(
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<string> {
  const options = { name: TEXT, slug: TEXT, timezone: TEXT, currency: TEXT };
  const { name = "", slug, timezone, currency } = readOptions(args, options, ["name"]);
  const workspace = readNewWorkspace({ name, slug, timezone, currency });
  return await withDatabase(environment, async (db) => {
    const { trackingUrl } = environment;
    const created = await createWorkspace(db, { ...workspace, trackingUrl });
    return [
      `Workspace ${created.id} (${created.slug}) is there.`,
      `Postback token: ${created.postbackToken}`,
      `Admin key:      ${created.adminKey}`,
      "The key is shown this once: keep it.",
    ].join("\n");
  });
}

async function workspaceStatus(
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<string> {
  const { workspace = "", set } = readOptions(args, { workspace: TEXT, set: TEXT }, [
    "workspace",
    "set",
  ]);
  if (set !== "active" && set !== "inactive")
    throw new UsageError("--set must be active or inactive");
  return await withDatabase(environment, async (db) => {
    const { id } = await getWorkspace(db, workspace);
    await setWorkspaceStatus(db, id, set);
    return `Workspace ${workspace} is ${set}.`;
  });
}

async function keyCreate(
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<string> {
  const options = { workspace: TEXT, role: TEXT, affiliate: TEXT, advertiser: TEXT, name: TEXT };
  const {
    workspace = "",
    role = "",
    affiliate,
    advertiser,
    name,
  } = readOptions(args, options, ["workspace", "role"]);
  return await withDatabase(environment, async (db) => {
    const key = await createKey(db, { workspace, role, affiliate, advertiser, name });
    return `${key}\nThe key is shown this once: keep it.`;
  });
}

async function demo(args: readonly string[], environment: CommandEnvironment): Promise<string> {
  const { json, "new-keys": newKeys } = readOptions(args, { json: FLAG, "new-keys": FLAG }, []);
  return await withDatabase(environment, async (db) => {
    const made = await makeDemo(db, environment, { newKeys: newKeys === true });
    return json === true ? JSON.stringify(made, null, 2) : describeDemo(made);
  });
}

function describeDemo({ keys, links, ...rest }: Demo): string {
  const lines: [string, string | number][] = [
    ["REST API", rest.base_url],
    ["MCP", rest.mcp_url],
    ["Tracking", rest.tracking_url],
    ["Workspace", rest.workspace_id],
    ["Postback token", rest.postback_token],
    ["Advertiser's token", rest.advertiser_postback_token],
    ...Object.entries(keys).map(([role, key]): [string, string] => [`Key: ${role}`, key]),
    ...Object.entries(links).map(([kind, link]): [string, string] => [`Link: ${kind}`, link]),
  ];
  const width = Math.max(...lines.map(([title]) => title.length));
  return [
    "The workspace demo is there. Its keys are shown this once:",
    "",
    ...lines.map(([title, value]) => `  ${title.padEnd(width)}  ${value}`),
  ].join("\n");
}

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean" } as const;
type Options = NonNullable<ParseArgsConfig["options"]>;

/** @throws {UsageError} for an unknown option, one without a value, one too many words, or a missing required one. */
function readOptions<const Asked extends Options>(
  args: readonly string[],
  options: Asked,
  required: readonly (keyof Asked & string)[],
) {
  const values = parseOptions(args, options);
  const missing = required.filter((name) => Reflect.get(values, name) === undefined);
  if (missing.length > 0) {
    throw new UsageError(`${missing.map((name) => `--${name}`).join(", ")} is missing.`);
  }
  return values;
}

function parseOptions<const Asked extends Options>(args: readonly string[], options: Asked) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function withDatabase(
  { servers, dataDir }: CommandEnvironment,
  work: (db: Pool) => Promise<string>,
): Promise<string> {
  const { postgresUrl } = findServers(["postgresUrl"], servers, dataDir);
  const db = openPool({
    url: postgresUrl,
    applicationName: "tracker command line",
    connectionsMax: 2,
  });
  try {
    await assertPostgresMigrated(db);
    return await work(db);
  } finally {
    await db.end();
  }
}
