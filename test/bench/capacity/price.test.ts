import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { monthlyPrice, readPriceList } from "./price.ts";

function withFile<T>(text: string, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "tracker-prices-"));
  try {
    const path = join(folder, "prices.json");
    writeFileSync(path, text);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the list in the repository says that its prices are placeholders", () => {
  const list = readPriceList(undefined);
  expect(list.source).toBe("placeholders");
  expect(list.comment).toMatch(/placeholders/);
});

test("whole units are paid, to the ten-thousandth and without floats", () => {
  const unit = "unit";
  const list = {
    comment: "",
    source: "test",
    currency: "EUR",
    perMonth: {
      core: { amount: "0.1", unit },
      memoryGb: { amount: "0.2", unit },
      diskTb: { amount: "0", unit },
      networkGbit: { amount: "0", unit },
    },
  };
  const prices = withFile(JSON.stringify(list), readPriceList);
  const amounts = { core: 0.4, memoryGb: 1, diskTb: 7, networkGbit: 0 };
  expect(monthlyPrice(amounts, prices)).toBe(3_000n);
});

test("a list with a price that is no amount is refused by name", () => {
  const text = JSON.stringify({ perMonth: { core: { amount: "-1", unit: "core" } } });
  expect(() => withFile(text, readPriceList)).toThrow(/prices\.json is no price list/);
});
