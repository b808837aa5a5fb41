import { ApiKeys } from "../../api/access/api-keys.ts";
import { readInput } from "../../api/http/request-input.ts";
import { Cursors } from "../../api/operation/cursor.ts";
import type { OperationContext } from "../../api/operation/operation.ts";
import { operations } from "../../api/operations.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openLog } from "../../schemas/host/log.ts";
import { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool, Statement } from "../../schemas/postgres/connect.ts";
import { secretKeys } from "../samples/secret-keys.ts";

export type RestCase = {
  readonly name: string;
  /** Path below /api/v1, with its query. */
  readonly path: string;
  /** Path on the bare server. */
  readonly barePath: string;
  readonly statement: Statement;
};

type MeasuredOperation = {
  readonly name: string;
  readonly operation: string;
  readonly query?: Readonly<Record<string, string>>;
  /** SQL for the ID in the path. */
  readonly id?: string;
};

const MEASURED: readonly MeasuredOperation[] = [
  { name: "list of 50 offers", operation: "listOffers", query: { limit: "50" } },
  { name: "one offer", operation: "getOffer", id: "select id from offer order by id desc limit 1" },
  { name: "list of 50 affiliates", operation: "listAffiliates", query: { limit: "50" } },
  {
    name: "one affiliate",
    operation: "getAffiliate",
    id: "select id from affiliate order by id desc limit 1",
  },
  { name: "list of 100 conversions", operation: "listConversions", query: { limit: "100" } },
  { name: "one conversion", operation: "getConversion", id: "select id from conversion limit 1" },
  { name: "list of 50 postbacks", operation: "listPostbacks", query: { limit: "50" } },
  { name: "list of 50 coupons", operation: "listCoupons", query: { limit: "50" } },
];

/** The measured operations, each with the one statement that it runs; `/me` with the statement that finds the key. */
export async function restCases(pool: Pool, key: string): Promise<RestCase[]> {
  const found: Statement[] = [];
  const admitted = await new ApiKeys(recording(pool, found)).find(key, Date.now());
  if (admitted === undefined) throw new Error("no key in Postgres matches the demo's admin key");
  const clickhouse = openClickhouse({ url: "http://127.0.0.1:1", applicationName: "bench" });
  const outgoing = new OutgoingClient({ allowLoopback: false });
  const { principal } = admitted;
  const context: OperationContext = {
    principal,
    workspace: principal.workspace,
    db: pool,
    clickhouse,
    nats: undefined,
    outgoing,
    cursors: new Cursors("bench"),
    secretKeys: secretKeys(),
    log: openLog({ process: "bench", level: "silent" }),
    requestId: "bench",
    nowMs: Date.now(),
    clientIp: "127.0.0.1",
    isFresh: true,
    rate: { limit: 1, remaining: 1, resetSec: 1 },
    settings: {
      apiUrl: "http://127.0.0.1",
      trackingUrl: "http://127.0.0.1",
      allowLoopback: false,
      clickRetentionDays: 0,
    },
  };
  try {
    const cases = await Promise.all(MEASURED.map((measured) => caseOf(context, measured)));
    return [...cases, { name: "/me", path: "/me", barePath: "/me", statement: only(found, "/me") }];
  } finally {
    await outgoing.close();
    await clickhouse.close();
  }
}

async function caseOf(context: OperationContext, measured: MeasuredOperation): Promise<RestCase> {
  const operation = operations.find(({ name }) => name === measured.operation);
  if (operation === undefined) throw new Error(`no operation ${measured.operation}`);
  const { query = {} } = measured;
  const path: Record<string, string> =
    measured.id === undefined ? {} : { id: await idOf(context.db, measured.id) };
  const statements: Statement[] = [];
  const recorded = { ...context, db: recording(context.db, statements) };
  const input = await readInput(operation, recorded, { path, query, body: undefined });
  await operation.run(recorded, input);
  const search = new URLSearchParams(query).toString();
  return {
    name: measured.name,
    path: `${operation.path.replace("{id}", path["id"] ?? "")}${search === "" ? "" : `?${search}`}`,
    barePath: `/${measured.operation}`,
    statement: only(statements, measured.name),
  };
}

async function idOf(db: Pool, text: string): Promise<string> {
  const { rows } = await db.query<{ id: number | string }>({ text });
  return String(rows[0]?.id ?? "");
}

function recording(db: Pool, statements: Statement[]): Pool {
  return {
    ...db,
    query: async (statement) => {
      statements.push(statement);
      return await db.query(statement);
    },
  };
}

/** The single statement. @throws if there are several: the bare route would run only one of them, which flatters the ratio. */
function only(statements: readonly Statement[], name: string): Statement {
  const [statement] = statements;
  if (statement === undefined || statements.length > 1)
    throw new Error(`${name} makes ${statements.length} statements, not one`);
  return statement;
}
