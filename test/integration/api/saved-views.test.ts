import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, details, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const { keys } = world.tenant;
const Views = z.array(z.object({ id: z.number(), name: z.string(), is_own: z.boolean() }));

const VIEW = { name: "By profit", path: "/reports", query: "group_by=offer&sort=-profit" };
const namesIn = ({ body }: Answer): string[] => Views.parse(body["data"]).map(({ name }) => name);

test("what was saved is listed for its owner only, until it is shared within the account", async () => {
  const made = record(await world.post("/saved-views", VIEW, keys.admin));
  expect(made).toMatchObject({ ...VIEW, is_shared: false, is_own: true });
  expect(namesIn(await world.get("/saved-views", keys.admin))).toEqual(["By profit"]);
  expect(namesIn(await world.get("/saved-views", keys.analyst))).toEqual([]);
  const path = `/saved-views/${String(made["id"])}`;
  const shared = record(await world.patch(path, { is_shared: true }, keys.admin));
  expect(shared).toMatchObject({ ...VIEW, is_shared: true });
  const [seen] = Views.parse((await world.get("/saved-views", keys.analyst)).body["data"]);
  expect(seen).toMatchObject({ name: "By profit", is_own: false });
  const other = record(await world.post("/keys", { name: "second", role: "admin" }));
  const second = String(other["key"]);
  expect(refusal(await world.patch(path, { name: "Mine" }, second))).toBe("403 forbidden");
  expect(refusal(await world.call("DELETE", path, { key: second }))).toBe("403 forbidden");
  for (const outside of [keys.partner, keys.advertiser]) {
    expect(namesIn(await world.get("/saved-views", outside))).toEqual([]);
    expect(refusal(await world.patch(path, { name: "Mine" }, outside))).toBe("404 not_found");
  }
  await world.call("DELETE", path, { key: keys.admin });
  expect(namesIn(await world.get("/saved-views", keys.admin))).toEqual([]);
});

test("the key of an analyst only reads", async () => {
  expect(refusal(await world.post("/saved-views", VIEW, keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await world.post("/users", { name: "x" }, keys.analyst))).toBe(
    "403 read_only_key",
  );
});

test.each([
  ["name", { name: " " }],
  ["path", { path: "https://evil.example/" }],
  ["path", { path: "//evil.example" }],
  ["query", { query: "a=b#c" }],
  ["query", { query: "a".repeat(6_001) }],
  ["is_shared", { is_shared: "yes" }],
])("a wrong %s is told at its field", async (field, wrong) => {
  const refused = await world.post("/saved-views", { ...VIEW, ...wrong }, keys.partner);
  expect(Object.keys(details(refused).fields)).toEqual([field]);
});

test("nobody saves more than 50, also not at once", async () => {
  const answers = await Promise.all(
    Array.from({ length: 55 }, async (_, at) => {
      const save = async () =>
        await world.post("/saved-views", { ...VIEW, name: `View ${at}` }, keys.advertiser);
      // On a busy machine the last ones wait for the others longer than a request may, which is no refusal.
      let answer = await save();
      while (answer.status === 503) answer = await save();
      return answer;
    }),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(5);
  expect(refused.map(refusal)).toEqual(Array(5).fill("409 conflict"));
});
