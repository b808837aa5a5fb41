import type { Ledger } from "./ledger.ts";
import type { Opened } from "./open-shops.ts";
import { ShopRecount } from "./recount-shop.ts";
import type { Row } from "./row.ts";
import type { Partner, Shop } from "./shop.ts";

export type Recounted = Opened &
  Ledger & {
    readonly rows: Row[];
    /** UTC date of each stored conversion; that it lies between request and answer is compared elsewhere. */
    readonly dayOf: ReadonlyMap<string, string>;
    /** Answers that are not what they had to be. */
    readonly differences: readonly string[];
  };

/** What the day must have become when all holds are over, from what was sent and answered alone. */
export function recountDay(
  opened: Opened,
  ledger: Ledger,
  times: ReadonlyMap<string, string>,
): Recounted {
  const place = {
    partners: opened.partners,
    clicks: new Map(ledger.clicks.map((click) => [click.id, click])),
  };
  const rows: Row[] = [];
  const differences: string[] = [];
  for (const [at, shop] of opened.shops.entries()) {
    const recount = new ShopRecount(shop, at, place);
    const entries = ledger.entries.filter((entry) => entry.shop === at);
    for (const entry of entries.toSorted((a, b) => a.number - b.number)) {
      const difference = recount.take(entry);
      if (difference === undefined) continue;
      differences.push(difference);
      // What follows a wrong answer in this shop would only tell of it again.
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
