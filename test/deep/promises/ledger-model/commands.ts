import { postLedger } from "../../../../schemas/billing/post-ledger.ts";
import { type Amount, formatAmount } from "../../../../schemas/money/amount.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import type { Books } from "../../../integration/billing/books.ts";
import type { LedgerModel, ModelConversion, ModelStatus } from "./ledger-model.ts";

export type Sequence = {
  readonly books: Books;
  readonly model: LedgerModel;
  /** A whole number below its argument, by the seed. */
  readonly roll: (below: number) => number;
};

/** Does something to the books, and the same to the model. */
type Command = (sequence: Sequence) => Promise<void>;

const STATUSES: readonly ModelStatus[] = ["approved", "pending", "rejected"];
/** Ten-thousandths. */
const AMOUNT_MAX = 1_000_000;
const CURRENCY = "EUR";

async function convert({ books, model, roll }: Sequence): Promise<void> {
  const status = STATUSES[roll(3)] ?? "pending";
  const partner = [...books.partners, undefined][roll(3)];
  const [payout, revenue] = [amount(roll), amount(roll)];
  const id = await books.convert({
    status,
    affiliate_id: partner ?? null,
    payout: formatAmount(payout),
    revenue: formatAmount(revenue),
  });
  model.conversions.push({ id, partner, status, payout, revenue });
}

/** A change to the status that it has already is a change, too. */
function setStatus(status: ModelStatus): Command {
  return async (sequence) => {
    const one = anyConversion(sequence);
    if (one === undefined) return;
    await sequence.books.change(one.id, { status });
    one.status = status;
  };
}

async function changeAmounts(sequence: Sequence): Promise<void> {
  const { books, roll } = sequence;
  const one = anyConversion(sequence);
  if (one === undefined) return;
  const [payout, revenue] = [amount(roll), amount(roll)];
  await books.change(one.id, { payout: formatAmount(payout), revenue: formatAmount(revenue) });
  Object.assign(one, { payout, revenue });
}

/** As `POST /adjustments` posts it. Sent twice, it is posted once. */
async function adjust({ books, model, roll }: Sequence): Promise<void> {
  const partner = books.partners[roll(2)] ?? 0;
  const given = (roll(2) === 0 ? 1n : -1n) * (amount(roll) + 1n);
  const id = await books.insert("adjustment", {
    workspace_id: books.workspaceId,
    affiliate_id: partner,
    currency: CURRENCY,
    amount: formatAmount(given),
    kind: given > 0n ? "bonus" : "deduction",
    reason: "by the model",
  });
  const entries = [
    { account: "adjustment_cost", ownerId: 0, currency: CURRENCY, amount: given },
    { account: "partner_payable", ownerId: partner, currency: CURRENCY, amount: -given },
  ] as const;
  const transaction = {
    kind: "adjustment",
    sourceKind: "adjustment",
    sourceId: String(id),
    entries,
  } as const;
  for (let times = 0; times < 1 + roll(2); times += 1)
    await inTransaction(books.pool, async (tx) => {
      await postLedger(tx, books.workspaceId, [transaction]);
    });
  model.adjustments.push({ partner, amount: given });
}

/** What happens while billing is off is posted once it is on again. */
async function switchOffAndOn(sequence: Sequence): Promise<void> {
  await sequence.books.disable();
  await changeAmounts(sequence);
  await convert(sequence);
  await sequence.books.enable();
}

/** Each as often as it is named. Commands of statements and payouts are added here. */
export const COMMANDS: readonly Command[] = [
  convert,
  convert,
  convert,
  setStatus("approved"),
  setStatus("approved"),
  setStatus("rejected"),
  setStatus("pending"),
  changeAmounts,
  changeAmounts,
  adjust,
  switchOffAndOn,
];

function anyConversion({ model, roll }: Sequence): ModelConversion | undefined {
  return model.conversions[roll(model.conversions.length)];
}

/** Sometimes nothing, sometimes the smallest amount. */
function amount(roll: Sequence["roll"]): Amount {
  return BigInt([0, 1, roll(AMOUNT_MAX), roll(AMOUNT_MAX), roll(AMOUNT_MAX)][roll(5)] ?? 0);
}
