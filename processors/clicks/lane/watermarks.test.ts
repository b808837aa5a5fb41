import { expect, test } from "vitest";
import { Watermark } from "../../../schemas/events/click-batch.ts";
import { Producers } from "../intake/producers.ts";
import { PositionSet } from "../rows/position-set.ts";
import { watermarkOf } from "./watermarks.ts";

test("a watermark never passes a gap that it does not list", () => {
  const producer = new Producers().get(4, 2);
  producer.settled = new PositionSet();
  for (let position = 1; position < 500; position += 2)
    producer.settled.add(position, position + 1);
  const watermark = Watermark.parse(watermarkOf(3, producer));
  expect(watermark.missing).toHaveLength(100);
  expect(watermark.missing.at(-1)).toEqual([198, 199]);
  expect(watermark.next).toBe(200);
});

test("a watermark without gaps ends where the table does", () => {
  const producer = new Producers().get(4, 2);
  producer.settled = new PositionSet(77);
  expect(watermarkOf(3, producer)).toEqual({
    lane: 3,
    producer: 4,
    epoch: 2,
    next: 77,
    missing: [],
  });
});
