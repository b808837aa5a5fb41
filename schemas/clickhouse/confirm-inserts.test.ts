import { ClickHouseError } from "@clickhouse/client";
import { expect, test } from "vitest";
import { confirmInserts } from "./confirm-inserts.ts";
import { openClickhouse } from "./connect.ts";
import type { Node } from "./ensure-everywhere.ts";

/** A node that records the statements it gets. With `isBehind` it does not have all rows in time. */
function aNode(host: string, isBehind = false): Node & { readonly told: string[] } {
  const told: string[] = [];
  const client = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
  const command = ({ query }: { query: string }): Promise<unknown> => {
    told.push(query);
    if (isBehind && query.startsWith("system sync replica"))
      return Promise.reject(new ClickHouseError({ code: "159", message: "Timeout exceeded" }));
    return Promise.resolve({});
  };
  return { host, home: `1-${host}`, client: Object.assign(client, { command }), told };
}

test("a node whose tables of clicks were made confirms to Keeper the inserts that waited for it (G260)", async () => {
  const [old, rebuilt] = [aNode("a"), aNode("b")];
  const made = ["click on b", "fact_mark on b", "impression on b"];
  expect(await confirmInserts([old, rebuilt], made)).toEqual([]);
  expect(old.told).toEqual([]);
  expect(rebuilt.told).toEqual([
    "system sync replica click",
    "system restart replica click",
    "system sync replica impression",
    "system restart replica impression",
  ]);
});

test("a node that still copies rows is named, and connects to Keeper anew later", async () => {
  const node = aNode("b", true);
  expect(await confirmInserts([node], ["click on b"])).toEqual(["click on b"]);
  expect(node.told).toEqual(["system sync replica click"]);
});
