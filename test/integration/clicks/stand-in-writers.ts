import { z } from "zod";
import {
  type ClickAnswer,
  ClickPageQuery,
  ClickQuery,
} from "../../../schemas/events/click-query.ts";
import { CLICK_LANES } from "../../../schemas/events/shards.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";

const AnyQuery = z.union([ClickQuery, ClickPageQuery]);
export type AnyClickQuery = z.infer<typeof AnyQuery>;

/** Answers what other processes ask the writers of all lanes about young clicks, in their place. */
export function standInForWriters(
  { connection, subjects }: Nats,
  answer: (query: AnyClickQuery, lane: number) => ClickAnswer,
): void {
  for (const lane of CLICK_LANES) {
    connection.subscribe(subjects.clickQuery(lane), {
      callback: (_error, message) => {
        message.respond(JSON.stringify(answer(AnyQuery.parse(message.json()), lane)));
      },
    });
  }
}
