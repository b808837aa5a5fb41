import { expect, test } from "vitest";
import { openClickhouse } from "./connect.ts";
import { dropReplica, isHome, ReplicaInUseError } from "./drop-replica.ts";
import type { Node } from "./ensure-everywhere.ts";
import { REPLICATED_TABLES, replicaOf } from "./layout.ts";

type Known = { table: string; path: string; replicas: Record<string, number> };

/** A node with these tables, which notes what it is told. */
function aNode(home: string, tables: readonly Known[]): Node & { readonly told: string[] } {
  const told: string[] = [];
  const client = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
  const query = (): Promise<unknown> => Promise.resolve({ json: () => Promise.resolve(tables) });
  const command = ({ query: statement }: { query: string }): Promise<unknown> => {
    told.push(statement);
    return Promise.resolve({});
  };
  return { host: `h${home}`, home, client: Object.assign(client, { query, command }), told };
}

/** All tables of a node, with the replicas of these nodes; 1 is connected. */
function tablesOf(shard: string, homes: Readonly<Record<string, number>>): Known[] {
  return REPLICATED_TABLES.map((table) => {
    const replicas: Record<string, number> = {};
    let path = "";
    for (const [home, state] of Object.entries(homes)) {
      const [own = "", replica = ""] = home.split("-");
      const known = replicaOf(table, { shard: own, replica });
      if (!known.isShared && own !== shard) continue;
      replicas[known.name] = state;
      path = `/tracker/inst/${known.path}`;
    }
    return { table, path, replicas };
  });
}

const HOMES = { "1-a": 1, "1-b": 0, "2-a": 1 };

test("the replica of a lost node is forgotten in all tables, those of its shard by a node of it (G261)", async () => {
  const [same, other] = [aNode("1-a", tablesOf("1", HOMES)), aNode("2-a", tablesOf("2", HOMES))];
  const { dropped, left } = await dropReplica([other, same, aNode("1-b", [])], "1-b");
  expect([dropped.length, left]).toEqual([9, []]);
  expect(same.told).toEqual(
    ["click", "impression", "insert_trial"].map(
      (table) => `system drop replica 'b' from table ${table}`,
    ),
  );
  expect(other.told).toContain("system drop replica '1-b' from table conversion_fact");
  expect(other.told).toHaveLength(6);
});

test("without a node of the shard, the statements for its tables are left to an administrator", async () => {
  const other = aNode("2-a", tablesOf("2", { "1-a": 0, "2-a": 1 }));
  const { dropped, left } = await dropReplica([other], "1-a");
  expect(dropped).toHaveLength(6);
  expect(left).toContain("system drop replica 'a' from zkpath '/tracker/inst/click/1'");
  expect(left).toHaveLength(3);
});

test("a replica that runs is not dropped, and one that Keeper does not know is none (G261)", async () => {
  const connected = aNode("1-a", tablesOf("1", { ...HOMES, "1-b": 1 }));
  await expect(dropReplica([connected], "1-b")).rejects.toThrow(ReplicaInUseError);
  const own = aNode("1-b", tablesOf("1", HOMES));
  await expect(dropReplica([aNode("1-a", tablesOf("1", HOMES)), own], "1-b")).rejects.toThrow(
    "the node h1-b has the macros 1-b and has tables",
  );
  expect([...connected.told, ...own.told]).toEqual([]);
  const without = aNode("1-a", tablesOf("1", { "1-a": 1 }));
  expect(await dropReplica([without], "1-c")).toEqual({ dropped: [], left: [] });
});

test("macros of a node are a shard and a replica", () => {
  expect(["1-b", "s1-r-2", "1", "-b", "1-b'"].map(isHome)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
