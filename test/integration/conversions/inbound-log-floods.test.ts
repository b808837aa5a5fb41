import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const CALLS = 150;
/** Refusals of one kind in a minute that get their own row. */
const ROWS_OF_THEIR_OWN = 60;

const world = await forThisFile(TrackingWorld.open());
world.startWriters();
await world.nats.connection.flush();

type Kind = { readonly endpoint: string; readonly result: string };

async function rowsOf({ endpoint, result }: Kind): Promise<string[]> {
  const rows = await world.rows<{ message: string }>(
    "select message from postback_log where endpoint = $1 and result = $2 order by ts, id",
    [endpoint, result],
  );
  return rows.map(({ message }) => message);
}

/** Sends CALLS reports, each with another order; returns the distinct results. */
async function send(
  params: Record<string, string>,
  options: { readonly endpoint?: "px" },
): Promise<Set<string>> {
  // Earlier than now, so that the writers have all clicks up to that time.
  const receivedAtMs = Date.now() - 500;
  const replies = Array.from({ length: CALLS }, () =>
    world.report({ ...params, txid: randomUUID() }, { ...options, receivedAtMs }),
  );
  return new Set((await Promise.all(replies)).map(({ result }) => result));
}

test("refusals of strangers share rows, and each report with a token has its own (#16, G178)", async () => {
  const unknownId = "ab".repeat(16);
  expect(await send({ token: "guessed", click_id: unknownId }, {})).toEqual(
    new Set(["invalid_token"]),
  );
  expect(await send({ click_id: unknownId }, { endpoint: "px" })).toEqual(
    new Set(["unknown_click"]),
  );
  expect(await send({ click_id: unknownId }, {})).toEqual(new Set(["unknown_click"]));
  await world.closeLanes();
  const times = ` (${CALLS - ROWS_OF_THEIR_OWN} times in a minute)`;
  for (const kind of [
    { endpoint: "pb", result: "invalid_token" },
    { endpoint: "px", result: "unknown_click" },
  ]) {
    const messages = await rowsOf(kind);
    expect(messages).toHaveLength(ROWS_OF_THEIR_OWN + 1);
    expect(messages.filter((message) => message.endsWith(times))).toHaveLength(1);
  }
  expect(await rowsOf({ endpoint: "pb", result: "unknown_click" })).toEqual(
    Array.from({ length: CALLS }, () => "unknown click_id"),
  );
});
