import { pino } from "pino";
import { expect, test } from "vitest";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { AnsweringNode } from "../../../schemas/clickhouse/node-directory.ts";
import { LaneHomes } from "./home.ts";

const ALONE = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
const REFUSED = "the replica is read-only";
const { signal } = new AbortController();

/** A node whose replica fetches what others have, or refuses to. */
function aNode(home: string, isReady: boolean): AnsweringNode {
  const command = async (): ReturnType<typeof ALONE.command> => {
    await Promise.resolve();
    if (!isReady) throw new Error(REFUSED);
    return { query_id: "", response_headers: {} };
  };
  const node = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
  return { home, shard: home.slice(0, 1), node: Object.assign(node, { command }) };
}

function homesOf(...nodes: readonly AnsweringNode[]): LaneHomes {
  const directory = { answering: () => Promise.resolve(nodes), close: () => Promise.resolve() };
  return new LaneHomes(ALONE, { nodes: directory, log: pino({ level: "silent" }) });
}

async function homeOf(
  homes: LaneHomes,
  of: { lane?: number; shard?: string | null; lastHome?: string | null } = {},
): Promise<string | null> {
  const lane = { lane: 0, table: "click", shard: null, lastHome: null, ...of } as const;
  return (await homes.open(lane, signal)).name;
}

test("the last home keeps its lane while it is ready, and a ready replica of its shard takes over", async () => {
  const last = { shard: "1", lastHome: "1-b" };
  const [a, c, other] = [aNode("1-a", true), aNode("1-c", false), aNode("2-a", true)];
  expect(await homeOf(homesOf(a, aNode("1-b", true), c, other), last)).toBe("1-b");
  expect(await homeOf(homesOf(a, aNode("1-b", false), c, other), last)).toBe("1-a");
  expect(await homeOf(homesOf(a, c, other), last)).toBe("1-a");
});

test("a lane without a ready replica of its shard has no home", async () => {
  const homes = homesOf(aNode("1-a", false), aNode("2-a", true));
  await expect(homeOf(homes, { shard: "1" })).rejects.toThrow("no ClickHouse node of shard 1");
  await expect(homeOf(homes, { shard: "3" })).rejects.toThrow("no ClickHouse node of shard 3");
});

test("a lane without a shard gets that of its number, in the order of their names", async () => {
  const homes = homesOf(aNode("2-a", true), aNode("1-a", true), aNode("3-a", true));
  const names = await Promise.all([0, 1, 2, 3, 100].map((lane) => homeOf(homes, { lane })));
  expect(names).toEqual(["1-a", "2-a", "3-a", "1-a", "2-a"]);
});

test("a shard without a ready replica is left out of those that a lane reads elsewhere", async () => {
  const homes = homesOf(
    aNode("1-a", true),
    aNode("2-a", false),
    aNode("2-b", true),
    aNode("3-a", false),
  );
  const of = { lane: 0, table: "click", shard: "1", lastHome: null } as const;
  const home = await homes.open(of, signal);
  const elsewhere = await homes.elsewhere(home, "click", signal);
  expect(elsewhere.map(({ shard }) => shard)).toEqual(["2"]);
});
