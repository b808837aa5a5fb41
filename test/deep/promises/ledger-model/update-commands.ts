import { z } from "zod";
import { formatAmount } from "../../../../schemas/money/amount.ts";
import { until } from "../../../system/until.ts";
import type { ModelConversion, ModelStatus } from "./ledger-model.ts";
import { amount, anyOf, type Command, equal, type Sequence } from "./sequence.ts";

type Row = Pick<ModelConversion, "status" | "payout" | "revenue"> & {
  readonly of: ModelConversion;
};

const Update = z.looseObject({ id: z.int(), status: z.string() });
const ROWS_MAX = 4;
const WITHIN_MS = 60_000;
const STATUSES: readonly ModelStatus[] = ["approved", "pending", "rejected"];

/** A file of what the advertiser confirms, which is applied and sometimes undone. */
const confirm: Command = async (sequence) => {
  const { calls, model, roll } = sequence;
  const rows = rowsOf(sequence);
  if (rows.length === 0) return;
  const lines = rows.map(({ of, status, payout, revenue }) =>
    [of.id, status, formatAmount(payout), formatAmount(revenue)].join(","),
  );
  const file = ["conversion_id,status,payout,revenue", ...lines, ""].join("\n");
  const sent = await calls.sendFile("/conversion-updates", file);
  equal(sent.text, sent.status, 202);
  const { id } = Update.parse(sent.data);
  await reach(sequence, id, "checked");
  const before = rows.map(({ of }) => ({ ...of }));
  await begin(sequence, id, "apply");
  await reach(sequence, id, "done");
  for (const { of, ...change } of rows) model.change(of, change);
  if (roll(2) === 0) return;
  await begin(sequence, id, "undo");
  await reach(sequence, id, "undone");
  for (const [at, { of }] of rows.entries()) {
    const { status, payout, revenue } = before[at] ?? of;
    model.change(of, { status, payout, revenue });
  }
};

/** Each of another conversion. */
function rowsOf({ model, roll }: Sequence): Row[] {
  const chosen = new Set<ModelConversion>();
  for (let times = 0; times < ROWS_MAX; times += 1) {
    const one = anyOf(roll, model.conversions);
    if (one !== undefined) chosen.add(one);
  }
  return [...chosen].map((of) => ({
    of,
    status: anyOf(roll, STATUSES) ?? "pending",
    payout: amount(roll),
    revenue: amount(roll),
  }));
}

/** Refused when it was sent again and has begun already: then the state that is waited for is reached. */
async function begin({ calls }: Sequence, id: number, verb: "apply" | "undo"): Promise<void> {
  const { status, text } = await calls.send("POST", `/conversion-updates/${id}/${verb}`);
  if (status !== 409) equal(text, status, 200);
}

async function reach({ calls }: Sequence, id: number, status: string): Promise<void> {
  await until(
    `update ${id} is ${status}`,
    async () => Update.parse((await calls.get(`/conversion-updates/${id}`)).data).status === status,
    { timeoutMs: WITHIN_MS },
  );
}

export const UPDATE_COMMANDS: readonly Command[] = [confirm, confirm];
