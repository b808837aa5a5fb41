import { readFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { type Amount, parseAmount } from "../../../schemas/money/amount.ts";

const PLACEHOLDERS = projectFile("test", "bench", "capacity", "price-list.json");

const Price = z.object({
  amount: z.string().transform((text, context): Amount => {
    const amount = parseAmount(text);
    if (amount !== undefined) return amount;
    context.addIssue(`${text} is no amount such as 20.00`);
    return z.NEVER;
  }),
  unit: z.string().min(1),
});

/** What a month costs. Currency and prices are the reader's; those in the repository are placeholders. */
const PriceList = z.object({
  comment: z.string(),
  source: z.string().min(1),
  currency: z.string().regex(/^[A-Z]{3}$/),
  perMonth: z.object({ core: Price, memoryGb: Price, diskTb: Price, networkGbit: Price }),
});
export type PriceList = z.infer<typeof PriceList>;

/** What an installation consists of. */
export type Amounts = Readonly<Record<keyof PriceList["perMonth"], number>>;

/** @throws {Error} with the file and what is wrong in it. */
export function readPriceList(path: string | undefined): PriceList {
  const file = path ?? PLACEHOLDERS;
  const read = PriceList.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (read.success) return read.data;
  throw new Error(`${file} is no price list: ${z.prettifyError(read.error)}`);
}

/** A month of whole units: nobody rents half a core. */
export function monthlyPrice(amounts: Amounts, { perMonth }: PriceList): Amount {
  const { core, memoryGb, diskTb, networkGbit } = perMonth;
  return (
    priceOf(amounts.core, core) +
    priceOf(amounts.memoryGb, memoryGb) +
    priceOf(amounts.diskTb, diskTb) +
    priceOf(amounts.networkGbit, networkGbit)
  );
}

function priceOf(amount: number, { amount: price }: { readonly amount: Amount }): Amount {
  return price * BigInt(Math.ceil(amount));
}
