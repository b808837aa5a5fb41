import { expect, test } from "vitest";
import { formatFigure } from "../format/figure.ts";
import { figureWords } from "./figure-text.tsx";

const REVENUE = { name: "revenue", kind: "money", label: "Revenue", definition: "" } as const;
const BOTH = { shown: "USD", others: ["EUR"] };
const IN_EUR = new Map([["EUR", { revenue: "12.0000" }]]);
const eur = formatFigure("12.0000", "money", "EUR");
const usd = formatFigure("5.0000", "money", "USD");

test("money that is not in the sum is shown in its own currency instead of a zero (D9)", () => {
  const words = figureWords(REVENUE, { revenue: "0.0000" }, BOTH, IN_EUR);
  expect(words).toMatchObject({ text: eur, title: "Not in the total in USD", isOwn: false });
});

test("a sum that leaves money out says in its title how much (D9)", () => {
  const words = figureWords(REVENUE, { revenue: "5.0000" }, BOTH, IN_EUR);
  expect(words).toMatchObject({ text: usd, title: `${usd}, without ${eur}`, isOwn: true });
});

test("a zero is shown only where it is known that nothing was left out (D9)", () => {
  expect(figureWords(REVENUE, { revenue: "0.0000" }, BOTH, undefined).text).toBe("–");
  const zero = formatFigure("0.0000", "money", "USD");
  expect(figureWords(REVENUE, { revenue: "0.0000" }, BOTH, new Map()).text).toBe(zero);
  const alone = { shown: "USD", others: [] };
  expect(figureWords(REVENUE, { revenue: "0.0000" }, alone, undefined).text).toBe(zero);
});
