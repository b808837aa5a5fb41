import type { Ledger } from "./ledger.ts";
import type { Opened } from "./open-shops.ts";
import { ShopRecount } from "./recount-shop.ts";
import type { Row } from "./row.ts";
import type { Partner, Shop } from "./shop.ts";

export type Recounted = Opened &
  Ledger & {
    readonly rows: Row[];
    /** UTC date of each stored conversion. `listDifferences` checks that it lies between request and answer. */
    readonly dayOf: ReadonlyMap<string, string>;
    /** Answers that differ from the expected ones. */
    readonly differences: readonly string[];
  };

/** The expected state of the day after all holds have ended, computed only from what was sent and answered. */
export function recountDay(
  opened: Opened,
  ledger: Ledger,
  times: ReadonlyMap<string, string>,
): Recounted {
  const context = {
    partners: opened.partners,
    clicks: new Map(ledger.clicks.map((click) => [click.id, click])),
  };
  const rows: Row[] = [];
  const differences: string[] = [];
  for (const [at, shop] of opened.shops.entries()) {
    const recount = new ShopRecount(shop, at, context);
    const entries = ledger.entries.filter((entry) => entry.shop === at);
    for (const entry of entries.toSorted((a, b) => a.number - b.number)) {
      const difference = recount.take(entry);
      if (difference === undefined) continue;
      differences.push(difference);
      // Later entries of this shop would only repeat the same error.
      break;
    }
    recount.endHolds();
    rows.push(...recount.rows);
  }
  const dayOf = new Map([...times].map(([id, time]) => [id, time.slice(0, 10)]));
  return { ...opened, ...ledger, rows, differences, dayOf };
}

export function shopOf({ shops }: Opened, row: { readonly shop: number }): Shop {
  const shop = shops[row.shop];
  if (shop === undefined) throw new Error(`no shop ${row.shop}`);
  return shop;
}

export function partnerOf({ partners }: Opened, row: { readonly partner: number }): Partner {
  const partner = partners[row.partner];
  if (partner === undefined) throw new Error(`no partner ${row.partner}`);
  return partner;
}
