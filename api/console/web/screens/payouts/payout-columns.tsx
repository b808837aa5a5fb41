import { formatMoney } from "../../format/money.ts";
import type { Column } from "../../parts/data-table.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { accountText, heldWords, type Method, type PayoutDueLine } from "./payout.ts";

/** Who is paid how much to where, in one currency. */
export function dueColumns<Row extends PayoutDueLine>(
  currency: string,
  wordsOf: (method: Method) => string,
): readonly Column<Row>[] {
  return [
    {
      name: "partner",
      title: "Partner",
      cell: ({ affiliate_id: id, affiliate_name: name = "" }) =>
        id === undefined ? (
          <StrangerText text={name} />
        ) : (
          <RecordLink path="/partners" id={id}>
            <StrangerText text={name} />
          </RecordLink>
        ),
    },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      cell: ({ amount }) => formatMoney(amount, currency),
    },
    { name: "method", title: "Paid by", cell: ({ method }) => wordsOf(method) },
    {
      name: "account",
      title: "Account",
      cell: (row) => <StrangerText text={accountText(row)} />,
    },
  ];
}

/** Who waits with how much, why, and until when. The reason comes before the account, because a phone shows the first columns. */
export function heldColumns<Row extends PayoutDueLine>(
  currency: string,
  wordsOf: (method: Method) => string,
): readonly Column<Row>[] {
  const [partner, amount, ...account] = dueColumns<Row>(currency, wordsOf);
  const who = [partner, amount].filter((column) => column !== undefined);
  return [
    ...who,
    { name: "reason", title: "Held because", cell: ({ reason }) => heldWords(reason) },
    {
      name: "until",
      title: "Until",
      cell: ({ until }) =>
        until === null || until === undefined ? "" : <InstantText iso={until} />,
    },
    ...account,
  ];
}
