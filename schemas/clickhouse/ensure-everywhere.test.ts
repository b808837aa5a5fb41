import { ClickHouseError } from "@clickhouse/client";
import { expect, test } from "vitest";
import { openClickhouse } from "./connect.ts";
import { ensureEverywhere, makeMissingTables, type Node } from "./ensure-everywhere.ts";

/** A node that has these tables, and notes what it is told to make. */
function aNode(
  host: string,
  tables: Readonly<Record<string, string>>,
  refusal?: Error,
): Node & { readonly told: string[] } {
  const told: string[] = [];
  const client = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
  const rows = Object.entries(tables).map(([name, definition]) => ({ name, definition }));
  const query = (): Promise<unknown> => Promise.resolve({ json: () => Promise.resolve(rows) });
  const command = ({ query: statement }: { query: string }): Promise<unknown> => {
    if (refusal !== undefined) return Promise.reject(refusal);
    told.push(statement);
    return Promise.resolve({});
  };
  return { host, home: `1-${host}`, client: Object.assign(client, { query, command }), told };
}

const NEWER = "CREATE TABLE db.click (a UInt8, b UInt8) ENGINE = X";
const OLDER = "CREATE TABLE db.click (a UInt8) ENGINE = X";
const COSTS = "CREATE TABLE db.ad_cost_fact (c UInt8) ENGINE = X";

test("a node without a table gets it as the others have it (G260)", async () => {
  const empty = aNode("a", {});
  const other = aNode("b", { click: NEWER, ad_cost_fact: COSTS });
  expect(await makeMissingTables([empty, other])).toEqual(["click on a", "ad_cost_fact on a"]);
  expect(empty.told).toEqual([
    NEWER.replace("TABLE", "TABLE IF NOT EXISTS"),
    COSTS.replace("TABLE", "TABLE IF NOT EXISTS"),
  ]);
  expect(other.told).toEqual([]);
});

test("a migration that was interrupted may leave a table in two ways, until the end", async () => {
  const nodes = [aNode("a", { click: OLDER, ad_cost_fact: COSTS }), aNode("b", { click: NEWER })];
  expect(await makeMissingTables(nodes)).toEqual(["ad_cost_fact on b"]);
  await expect(ensureEverywhere(nodes)).rejects.toThrow(
    "defined in two ways: click on a and on b. Drop the wrong one",
  );
});

test("a table that others define in two ways is made nowhere", async () => {
  const nodes = [aNode("a", { click: OLDER }), aNode("b", { click: NEWER }), aNode("c", {})];
  await expect(makeMissingTables(nodes)).rejects.toThrow("click on a and on b");
  expect(nodes[2]?.told).toEqual([]);
});

test("a node that lost its disk is named with the command that makes Keeper forget it (G260)", async () => {
  const refusal = new ClickHouseError({
    message: "Replica already exists",
    code: "253",
    type: "REPLICA_ALREADY_EXISTS",
  });
  const nodes = [aNode("a", { click: NEWER }), aNode("b", {}, refusal)];
  await expect(makeMissingTables(nodes)).rejects.toThrow(
    "the ClickHouse node b has lost the table click, and Keeper still knows its replica: run `tracker clickhouse drop-replica 1-b`, then `tracker migrate` again",
  );
});
