import { expect, test } from "vitest";
import { CLASSES, OfferClasses } from "./offer-classes.ts";
import { Tally } from "./tally.ts";

test("4,096 offers have a number each, and a further one shares that of the fewest visits", () => {
  const tally = new Tally(CLASSES);
  const classes = new OfferClasses(tally);
  const offers = Array.from({ length: CLASSES }, (_, index) => 10 + index * 4);
  const numbers = offers.map((offer) => classes.classOf(offer));
  expect(new Set(numbers).size).toBe(CLASSES);
  for (const number of numbers) tally.add(number, number === 17 ? 2 : 3);
  expect(classes.classOf(5)).toBe(17);
  tally.add(17, 5);
  expect(classes.classOf(6)).not.toBe(17);
  expect(classes.offerOf(17)).toBe(5);
  expect(offers.map((offer) => classes.classOf(offer))).toEqual(numbers);
  expect(classes.classOf(5)).toBe(17);
});
