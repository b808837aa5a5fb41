import { type ClickAnswer, ClickQuery } from "../../../schemas/events/click-query.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";

/** Answers the queries for young clicks in place of the writers of all lanes. */
export function standInForWriters(
  { connection, subjects }: Nats,
  answer: (query: ClickQuery, lane: number) => ClickAnswer,
): void {
  for (const lane of FOUR_LANES.clicks) {
    connection.subscribe(subjects.clickQuery(lane), {
      callback: (_error, message) => {
        message.respond(JSON.stringify(answer(ClickQuery.parse(message.json()), lane)));
      },
    });
  }
}
