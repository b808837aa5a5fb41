import { expect, test } from "vitest";
import { openApi } from "./api-client.ts";
import { Interruption } from "./interruption.ts";
import { nameInBatch } from "./name-batch.ts";

const anApi = () =>
  openApi({ membershipId: 1, onChanged: () => undefined, interruption: new Interruption() });

test("names that are asked for at the same moment go into one request, each ID once", async () => {
  const asked: number[][] = [];
  const load = async (ids: number[]) => {
    asked.push(ids);
    return await Promise.resolve(new Map(ids.map((id) => [String(id), `Offer ${id}`])));
  };
  const api = anApi();
  const names = ["7", "8", "7"].map(async (id) => await nameInBatch(api, "offers", id, load));
  expect(await Promise.all(names)).toEqual(["Offer 7", "Offer 8", "Offer 7"]);
  expect(asked).toEqual([[7, 8]]);
  expect(await nameInBatch(api, "offers", "9", load)).toBe("Offer 9");
  expect(asked).toEqual([[7, 8], [9]]);
});

test("kinds of records and memberships never share a request", async () => {
  let requests = 0;
  const load = async () => {
    requests += 1;
    return await Promise.resolve(new Map<string, string>());
  };
  const [one, other] = [anApi(), anApi()];
  await Promise.all([
    nameInBatch(one, "offers", "1", load),
    nameInBatch(one, "partners", "1", load),
    nameInBatch(other, "offers", "1", load),
  ]);
  expect(requests).toBe(3);
});

test("a record that the answer lacks keeps its ID, and more than 200 IDs are two requests", async () => {
  const sizes: number[] = [];
  const load = async (ids: number[]) => {
    sizes.push(ids.length);
    return await Promise.resolve(new Map<string, string>());
  };
  const api = anApi();
  const ids = Array.from({ length: 201 }, (_none, at) => String(at + 1));
  const names = await Promise.all(
    ids.map(async (id) => await nameInBatch(api, "offers", id, load)),
  );
  expect(names[200]).toBe("#201");
  expect(sizes).toEqual([200, 1]);
});

test("a refusal reaches everybody who asked, and the next one asks again", async () => {
  const api = anApi();
  const refuse = async () => await Promise.reject(new Error("refused"));
  await expect(nameInBatch(api, "offers", "1", refuse)).rejects.toThrow("refused");
  const load = async () => await Promise.resolve(new Map([["1", "Shop"]]));
  expect(await nameInBatch(api, "offers", "1", load)).toBe("Shop");
});
