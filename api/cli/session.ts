import { randomUUID } from "node:crypto";
import { z } from "zod";
import { openLog } from "../../schemas/host/log.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import { type AuditEntry, noteInAuditLog } from "../access/audit-log.ts";
import { type CalledWith, callOperation } from "../http/call-operation.ts";
import { Cursors } from "../operation/cursor.ts";
import { ApiError } from "../operation/errors.ts";
import type { Operation, OperationContext } from "../operation/operation.ts";
import { permissionsOf } from "../operation/permissions.ts";
import type { CommandArguments, CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { getWorkspace, type Workspace } from "./workspaces.ts";

const PAGE_ROWS = 200;
/** Lists are read whole, for a person or a script. Workspaces with more records must use the API. */
const LISTED_MAX = 10_000;
const STANDARD_ERROR = 2;
const NAME_OF_ACTOR = "command line";

/** A command running in one workspace, with all rights in it. */
export type Session = {
  readonly command: string;
  readonly context: OperationContext;
  /** The same context over another pool, such as a transaction's. */
  readonly contextOn: (db: Pool) => OperationContext;
};

export type ShownRecord = Readonly<Record<string, unknown>> & { readonly id: number };

const Shown = z.looseObject({ id: z.int() });
const One = z.looseObject({ data: Shown });
const Page = z.looseObject({ data: z.array(Shown), next_cursor: z.string().nullable() });

/** Runs a command in the workspace of its option `--workspace`. @throws {CommandError} when the workspace does not exist. */
export async function inWorkspace(
  {
    command,
    given,
    environment,
  }: {
    readonly command: string;
    readonly given: CommandArguments;
    readonly environment: CommandEnvironment;
  },
  work: (session: Session) => Promise<string>,
): Promise<string> {
  const slug = given.required("workspace");
  return await withDatabase(
    environment,
    async (db) => await work(await openSession(db, slug, { command, environment })),
  );
}

/** The session of a command in the workspace with this slug. @throws {CommandError} when the workspace does not exist. */
export async function openSession(
  db: Pool,
  slug: string,
  { command, environment }: { readonly command: string; readonly environment: CommandEnvironment },
): Promise<Session> {
  const workspace = await getWorkspace(db, slug);
  const contextOn = (pool: Pool) => contextOf(pool, workspace, environment);
  return { command, context: contextOn(db), contextOn };
}

/** The context of an admin. The command line has no key, so the key number is missing. */
function contextOf(
  db: Pool,
  workspace: Workspace,
  { apiUrl, trackingUrl, secretKeys }: CommandEnvironment,
): OperationContext {
  return {
    principal: {
      actor: { kind: "key", id: 0, name: NAME_OF_ACTOR },
      permissions: permissionsOf("admin", null),
      workspace,
      role: "admin",
      affiliate: null,
      advertiser: null,
    },
    workspace,
    db,
    get clickhouse(): never {
      throw new CommandError("The command line cannot read clicks or reports: use the API.");
    },
    get outgoing(): never {
      throw new CommandError("The command line does not call other servers: use the API.");
    },
    nats: undefined,
    // Cursors never leave this process, so any secret works.
    cursors: new Cursors(randomUUID()),
    secretKeys: new SecretKeys(secretKeys.read),
    // Standard output is for results. Other faults are thrown and reported as the command's error.
    log: openLog({ process: "tracker", level: "error", descriptor: STANDARD_ERROR }),
    requestId: randomUUID(),
    nowMs: Date.now(),
    clientIp: "",
    isFresh: true,
    rate: { limit: 0, remaining: 0, resetSec: 0 },
    settings: { apiUrl, trackingUrl, allowLoopback: false, clickRetentionDays: 0 },
  };
}

/** Runs one operation of the API by its rules. Writes go to the audit log, including refused ones (G177). @throws {CommandError} */
export async function call(
  session: Session,
  operation: Operation,
  given: CalledWith,
): Promise<ShownRecord> {
  return One.parse(await answerOf(session, operation, given)).data;
}

/** All records of a list that `filters` let through, newest first. @throws {CommandError} */
export async function listAll(
  session: Session,
  operation: Operation,
  filters: Readonly<Record<string, string>> = {},
): Promise<ShownRecord[]> {
  const records: ShownRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: z.infer<typeof Page> = Page.parse(
      await answerOf(session, operation, {
        query: { ...filters, limit: String(PAGE_ROWS), ...(cursor === null ? {} : { cursor }) },
      }),
    );
    records.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null && records.length < LISTED_MAX);
  if (cursor !== null) {
    throw new CommandError(`There are more than ${LISTED_MAX} records: read them from the API.`);
  }
  return records;
}

/** Runs one operation and returns the body of its answer. @throws {CommandError} */
export async function answerOf(
  session: Session,
  operation: Operation,
  given: CalledWith,
): Promise<unknown> {
  try {
    const answer = await callOperation(session.context, operation, given);
    await note(session, operation, operation.status);
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await note(session, operation, error.status);
    throw new CommandError(sentenceOf(session, error), { cause: error });
  }
}

async function note(
  { command, context }: Session,
  { access }: Operation,
  status: number,
): Promise<void> {
  if (!access.isWrite) return;
  await noteInAuditLog(context, {
    principal: byCommandLine(context.workspace),
    action: `cli ${command}`,
    ip: null,
    status,
    requestId: context.requestId,
  });
}

/** The principal in the audit log: the command line has no key. */
export function byCommandLine(workspace: { readonly id: number }): AuditEntry["principal"] {
  return { actor: { kind: "command line", name: NAME_OF_ACTOR }, workspace };
}

function sentenceOf({ command, context }: Session, { code, message, details }: ApiError): string {
  const [noun = ""] = command.split(" ");
  if (code === "not_found") {
    return `There is ${message} in workspace ${context.workspace.slug}: \`${noun} list\` shows those that are there.`;
  }
  const faults = Object.entries(details?.fields ?? {}).map(
    ([field, fault]) => `${field}: ${fault}`,
  );
  return `Not done: ${faults.length === 0 ? message : faults.join("; ")}.`;
}
