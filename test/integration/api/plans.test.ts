import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findUseOfEvent } from "../../../api/catalog/offers/events.ts";
import { unpagedParams } from "../../../api/http/query-fields.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import { operations } from "../../../api/operations.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { LISTS, offer } from "./list-cases.ts";
import { type ListRequest, ListWorld, type PlanCost } from "./list-world.ts";

const IS_FULL = process.env["PROMISES_FULL"] === "1";
const SIZES = { rows: 20_000, rowsOfLargest: IS_FULL ? 1_000_000 : 20_000 };
const FILL_TIMEOUT_MS = IS_FULL ? 900_000 : 120_000;

/** Blocks read for each row: its own, the index's, and the blocks of its events, names, overrides and domains. */
const BLOCKS_PER_ROW_MAX = 32;
const BLOCKS_PER_PAGE = 200;
/** Parameters of paging, of the order, of the range and of the form, which are no filters. */
const PAGING = new Set("limit cursor sort from to tz preset date_basis format bom".split(" "));

let lists: ListWorld;
beforeAll(async () => {
  lists = await ListWorld.open(SIZES);
}, FILL_TIMEOUT_MS);
afterAll(async () => {
  await lists.close();
});

/** Read from ClickHouse by the sort key: see test/integration/reports/click-list.test.ts. */
const NOT_IN_POSTGRES = ["listClicks"];

const paged = operations.filter(
  (operation) =>
    "cursor" in shapeOf(operation) &&
    shapeOf(operation)["cursor"] !== unpagedParams.cursor &&
    !NOT_IN_POSTGRES.includes(operation.name),
);

test("every paged list is tested here with each of its filters and orders", () => {
  expect(Object.keys(LISTS).sort()).toEqual(paged.map(({ name }) => name).sort());
  for (const operation of paged) {
    const { selective = {}, wide = [], sorts = {} } = LISTS[operation.name] ?? {};
    const filters = Object.keys(shapeOf(operation)).filter((name) => !PAGING.has(name));
    expect([...Object.keys(selective), ...wide].sort(), operation.name).toEqual(filters.sort());
    const words = Object.keys(sorts).flatMap((name) => [name, `-${name}`]);
    expect(words.sort(), operation.name).toEqual(wordsOf(operation, "sort").sort());
  }
});

const cases = paged.flatMap((operation) =>
  (LISTS[operation.name]?.roles ?? ["admin"]).map((role) => ({
    name: `${operation.name} of ${role}`,
    operation,
    role,
  })),
);

describe.each(cases)("$name", ({ operation, role }) => {
  const list = LISTS[operation.name];
  const request = async (
    share: number,
    query: Readonly<Record<string, string>> = {},
  ): Promise<ListRequest> => ({
    operation,
    role,
    query: { ...rangeOf(operation), ...query },
    path: (await list?.path?.(lists)) ?? {},
    after: share === 0 ? undefined : await lists.positionAt(list?.rows ?? "", share),
  });

  test.each([
    ["the first page", 0],
    ["a page in the middle", 0.5],
    ["the last page", 0.999],
  ])("%s costs one page, however large the table is", async (_page, share) => {
    await expectFlat(await request(share));
  });

  test.each(Object.entries(list?.sorts ?? {}))(
    "sorted by %s, a page costs one page in either direction",
    async (name, rows) => {
      for (const sort of [name, `-${name}`])
        for (const share of [0, 0.5]) {
          const after = share === 0 ? undefined : await lists.positionAt(rows, share);
          await expectFlat({ ...(await request(0, { sort })), after });
        }
    },
  );

  const filters = role === "admin" ? Object.entries(list?.selective ?? {}) : [];
  test.each(filters)("%s finds its few rows without scanning the others", async (name, value) => {
    const query = { [name]: await value(lists) };
    await expectFlat(await request(0, query));
    await expectFlat(await request(0.5, query));
  });

  test("a generic plan costs one page, too; a statement with a filter has none", async () => {
    for (const statement of await lists.statementsOf(await request(0.5))) {
      if (statement.name === undefined) continue;
      const cost = await lists.costOfKeptPlan(statement);
      expectPage(cost, operation, statement.text);
    }
    for (const [name, value] of filters) {
      const [rare] = await lists.statementsOf(await request(0, { [name]: await value(lists) }));
      expect(rare?.name, name).toBeUndefined();
    }
  });
});

test("whether an event is used is found without reading the conversions of its offer (G44)", async () => {
  const { pool } = lists.world;
  let plan = "";
  const query: Queryable["query"] = async (statement) => {
    const { rows } = await pool.query({ text: `explain (generic_plan) ${statement.text}` });
    plan = JSON.stringify(rows);
    return await pool.query(statement);
  };
  expect(await findUseOfEvent({ query }, Number(await offer(lists)), "unused")).toBeUndefined();
  expect(plan).toContain("conversion_of_event");
});

async function expectFlat(request: ListRequest): Promise<void> {
  const statements = await lists.statementsOf(request);
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements) {
    const query = `${JSON.stringify(request.query)}\n${statement.text}`;
    expectPage(await lists.costOf(statement), request.operation, query);
  }
}

function expectPage(cost: PlanCost, operation: Operation, query: string): void {
  const rowsMax = rowsOf(operation);
  expect(cost.wholeTables.filter(isLarge), query).toEqual([]);
  expect(cost.rowsRemoved, `rows left out: ${query}`).toBeLessThanOrEqual(2 * rowsMax);
  expect(cost.rowsSorted, `rows sorted: ${query}`).toBeLessThanOrEqual(20 * rowsMax);
  expect(cost.blocks, `pages read: ${query}`).toBeLessThanOrEqual(
    BLOCKS_PER_PAGE + BLOCKS_PER_ROW_MAX * rowsMax,
  );
}

/** False for tables that stay small: they have one row, or one per workspace. */
function isLarge(table: string): boolean {
  return table !== "workspace" && table !== "installation";
}

/** Rows of a page with the default limit, and one more that shows whether another page follows. */
function rowsOf(operation: Operation): number {
  const query = z.looseObject({ limit: z.int() }).parse(operation.input.query?.parse({}));
  return query.limit + 1;
}

function rangeOf(operation: Operation): Record<string, string> {
  return "preset" in shapeOf(operation) ? { preset: "last30" } : {};
}

function shapeOf({ input }: Operation): z.ZodRawShape {
  return input.query instanceof z.ZodObject ? input.query.shape : {};
}

/** The words that a parameter may be. */
function wordsOf(operation: Operation, name: string): string[] {
  const param = shapeOf(operation)[name];
  if (param === undefined) return [];
  const schema = z.looseObject({ enum: z.array(z.string()) });
  return schema.parse(z.toJSONSchema(z.strictObject({ param })).properties?.["param"]).enum;
}
