import { z } from "zod";
import { readInput } from "../../../api/http/request-input.ts";
import { type CursorRange, Cursors, type Position } from "../../../api/operation/cursor.ts";
import type {
  Operation,
  OperationContext,
  RequestContext,
} from "../../../api/operation/operation.ts";
import { openPool, type Queryable, type Statement } from "../../../schemas/postgres/connect.ts";
import { operationContext, peopleRequest } from "../../services/operation-context.ts";
import { ApiWorld } from "./api-world.ts";
import { fillLists } from "./list-fill.ts";

/** What a plan read, all its nodes together. */
export type PlanCost = {
  /** Pages of tables and indexes. */
  readonly blocks: number;
  /** Rows that were read and left out again, whatever node did it. */
  readonly rowsRemoved: number;
  /** Rows that went into sorts. */
  readonly rowsSorted: number;
  /** Tables that were read from end to end. */
  readonly wholeTables: readonly string[];
};

export type ListRequest = {
  readonly operation: Operation;
  readonly role: "admin" | "partner" | "advertiser";
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Undefined reads the first page. */
  readonly after: Position | undefined;
};

type PlanNode = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string | undefined;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number | undefined;
  readonly "Rows Removed by Join Filter"?: number | undefined;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[] | undefined;
};
const PlanNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    "Relation Name": z.string().optional(),
    "Actual Rows": z.number(),
    "Actual Loops": z.number(),
    "Rows Removed by Filter": z.number().optional(),
    "Rows Removed by Join Filter": z.number().optional(),
    "Shared Hit Blocks": z.number(),
    "Shared Read Blocks": z.number(),
    Plans: z.array(PlanNode).optional(),
  }),
);
const Explained = z.tuple([z.object({ Plan: PlanNode })]);

/** Goes on where it is told. */
class ChosenPosition extends Cursors {
  readonly #after: Position | undefined;
  readonly #range: CursorRange | undefined;

  constructor(after: Position | undefined, range: CursorRange | undefined) {
    super("of the test");
    this.#after = after;
    this.#range = range;
  }

  override read(): { position: Position; range: CursorRange | undefined } | undefined {
    return this.#after === undefined ? undefined : { position: this.#after, range: this.#range };
  }
}

/** A database with large tables, on which list operations run as the API runs them. */
export class ListWorld {
  readonly world: ApiWorld;
  /** Nothing changes the lists, and finding a place sorts all rows. */
  readonly #positions = new Map<string, Promise<Position | undefined>>();

  private constructor(world: ApiWorld) {
    this.world = world;
  }

  /** `rows` in every table, `rowsOfLargest` offers, affiliates, conversions and coupons. */
  static async open(sizes: { rows: number; rowsOfLargest: number }): Promise<ListWorld> {
    const world = await ApiWorld.open();
    await fillLists(world.pool, world.tenant, sizes);
    return new ListWorld(world);
  }

  async close(): Promise<void> {
    await this.world.close();
  }

  /** The rows of a list, from the first to the last, by their place. */
  async positionAt(rows: string, share: number): Promise<Position | undefined> {
    const key = `${share} ${rows}`;
    const found = this.#positions.get(key) ?? this.#findPosition(rows, share);
    this.#positions.set(key, found);
    return await found;
  }

  async #findPosition(rows: string, share: number): Promise<Position | undefined> {
    const { rows: found } = await this.world.pool.query<{ at: string; id: number | string }>({
      text: `with list as (${rows})
             select at, id from list order by at desc, id desc
             offset (select floor($1::double precision * count(*)) from list) limit 1`,
      values: [share],
    });
    const [row] = found;
    return row === undefined ? undefined : { at: row.at, id: String(row.id) };
  }

  /** The statements that a request makes after it is found that what its path names exists; each text once. */
  async statementsOf(request: ListRequest): Promise<Statement[]> {
    const { operation, path, query } = request;
    const context = this.#contextOf(request);
    const input = await readInput(operation, context, { path, query, body: undefined });
    const statements = new Map<string, Statement>();
    const db: OperationContext["db"] = {
      ...context.db,
      query: async (statement) => {
        if (!statements.has(statement.text)) statements.set(statement.text, statement);
        return await context.db.query(statement);
      },
    };
    await operation.run({ ...context, db }, input);
    return [...statements.values()];
  }

  async costOf(statement: Statement): Promise<PlanCost> {
    return await costOf(this.world.pool, statement);
  }

  /** What the same costs by the plan that a connection keeps for any values, once it has seen the statement often. */
  async costOfKeptPlan(statement: Statement): Promise<PlanCost> {
    // `execute` needs the session in which the statement was prepared, which PgBouncer does not promise.
    const { postgresDirectUrl: url } = this.world.database;
    const connection = openPool({ url, applicationName: "test", connectionsMax: 1 });
    try {
      // After five plans for their values Postgres may choose to keep one.
      for (let run = 0; run < 8; run += 1) await connection.query(statement);
      const values = (statement.values ?? []).map(literal).join(", ");
      const given = values === "" ? "" : ` (${values})`;
      return await costOf(connection, { text: `execute "${statement.name ?? ""}"${given}` });
    } finally {
      await connection.end();
    }
  }

  #contextOf({
    operation,
    role,
    after,
  }: ListRequest): RequestContext & Pick<OperationContext, "db"> {
    const nowMs = Date.now();
    const isRanged =
      "from" in (operation.input.query instanceof z.ZodObject ? operation.input.query.shape : {});
    const range = { fromMs: nowMs - 30 * 86_400_000, toMs: nowMs, tz: "UTC" };
    const cursors = new ChosenPosition(after, isRanged ? range : undefined);
    const { workspaceId, affiliateId, advertiserId } = this.world.tenant;
    const caller = { role, workspaceId, affiliateId, advertiserId };
    const context = operationContext(this.world, caller, { nowMs, cursors });
    return operation.access.callers === undefined
      ? context
      : { ...context, people: peopleRequest(this.world.pool) };
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function rowsInto(node: PlanNode): number {
  return (node.Plans ?? []).reduce(
    (total, child) => total + child["Actual Rows"] * child["Actual Loops"],
    0,
  );
}

async function costOf(db: Queryable, { text, values = [] }: Statement): Promise<PlanCost> {
  const { rows } = await db.query<{ "QUERY PLAN": unknown }>({
    text: `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  });
  const [{ Plan: top }] = Explained.parse(rows[0]?.["QUERY PLAN"]);
  const nodes = nodesOf(top);
  const sum = (of: (node: PlanNode) => number): number =>
    nodes.reduce((total, node) => total + of(node), 0);
  return {
    blocks: top["Shared Hit Blocks"] + top["Shared Read Blocks"],
    rowsRemoved: sum(
      (node) =>
        ((node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0)) *
        node["Actual Loops"],
    ),
    rowsSorted: sum((node) => (node["Node Type"].endsWith("Sort") ? rowsInto(node) : 0)),
    // A partition without rows costs nothing, and the planner reads it in any way.
    wholeTables: nodes.flatMap((node) =>
      node["Node Type"] === "Seq Scan" &&
      node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) > 0
        ? [node["Relation Name"] ?? ""]
        : [],
    ),
  };
}

/** The SQL of a value that a test chose. */
function literal(value: unknown): string {
  if (value === undefined || value === null) return "null";
  const text = Array.isArray(value) ? `{${value.join(",")}}` : z.coerce.string().parse(value);
  return `'${text.replaceAll("'", "''")}'`;
}
