import { z } from "zod";
import { abortable } from "../../schemas/clickhouse/abortable.ts";
import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import { type Page, type SelectStatement, selectPage } from "../../schemas/clickhouse/select.ts";

/** Rows that began to be read at most this long ago are shared, so that an answer is at most so much older than its request. */
const JOIN_MS = 1_000;

/** A row of a report as ClickHouse answers it. */
const Metrics = z.array(z.string().nullable());
export const StoredRow = z
  .object({
    others: z.array(z.string()),
    metrics: Metrics,
    /** With a comparison: the metrics of the other period, and how far they changed, in millionths. */
    previous: Metrics.optional(),
    change: Metrics.optional(),
  })
  .catchall(z.union([z.string(), z.number()]));
export type StoredRow = z.infer<typeof StoredRow>;

/** Reads one page of a report. Do not change its rows: other requests may have the same ones. */
export type ReadPage = (statement: SelectStatement) => Promise<Page<StoredRow>>;

type Reading = {
  readonly page: Promise<Page<StoredRow>>;
  readonly beganAtMs: number;
  readonly abort: AbortController;
  askers: number;
};

/**
 * Equal statements of several requests are executed once: ten analysts who open the same dashboard cost as much as one. Text and
 * parameters of a statement contain the workspace and the visibility of its caller, so equal statements have equal answers.
 */
export class SharedPages {
  readonly #clickhouse: ClickhouseEditor;
  /** At most as many as reports may be under way. */
  readonly #underWay = new Map<string, Reading>();

  constructor(clickhouse: ClickhouseEditor) {
    this.#clickhouse = clickhouse;
  }

  /** For one request. Once all requests of a statement have `left`, it ends here and on the server. */
  readerUntil(left: AbortSignal): ReadPage {
    return async (statement) => {
      left.throwIfAborted();
      const key = JSON.stringify([statement.text, statement.params]);
      const known = this.#underWay.get(key);
      const isYoung = known !== undefined && performance.now() - known.beganAtMs < JOIN_MS;
      const reading = isYoung ? known : this.#begin(key, statement);
      reading.askers += 1;
      try {
        return await untilLeft(reading.page, left);
      } finally {
        reading.askers -= 1;
        if (reading.askers === 0) this.#end(key, reading);
      }
    };
  }

  #begin(key: string, statement: SelectStatement): Reading {
    const abort = new AbortController();
    const page = selectPage(abortable(this.#clickhouse, abort.signal), statement, StoredRow);
    const reading: Reading = { page, beganAtMs: performance.now(), abort, askers: 0 };
    this.#underWay.set(key, reading);
    return reading;
  }

  /** No one waits for it, whether it has been answered or not. */
  #end(key: string, reading: Reading): void {
    reading.abort.abort();
    if (this.#underWay.get(key) === reading) this.#underWay.delete(key);
  }
}

async function untilLeft<Value>(work: Promise<Value>, left: AbortSignal): Promise<Value> {
  return await new Promise<Value>((resolve, reject) => {
    const onLeft = (): void => {
      const reason: unknown = left.reason;
      reject(reason instanceof Error ? reason : new Error("left", { cause: reason }));
    };
    left.addEventListener("abort", onLeft, { once: true });
    void work.then(resolve, reject).finally(() => left.removeEventListener("abort", onLeft));
  });
}
