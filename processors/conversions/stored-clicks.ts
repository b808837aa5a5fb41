import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import type { ClickRecord } from "../../schemas/events/click-record.ts";
import { selectClicks } from "./select-clicks.ts";

type Answer = ClickRecord | undefined | "away";
type Waiting = {
  readonly clickId: string;
  readonly atMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/** A statement for one click costs nearly as much as one for a hundred. */
const CLICKS_A_STATEMENT_MAX = 100;
const STATEMENTS_MAX = 2;

/** Clicks of ClickHouse by their ids: those that are asked for together are read by one statement. */
export class StoredClicks {
  readonly #clickhouse: Clickhouse;
  readonly #catalog: Catalog;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isTaking = false;

  constructor(clickhouse: Clickhouse, catalog: Catalog) {
    this.#clickhouse = clickhouse;
    this.#catalog = catalog;
  }

  /** In any workspace; undefined for none. `atMs` is the time that the id tells. */
  find(clickId: string, atMs: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ clickId, atMs, resolve, reject });
      this.#takeSoon();
    });
  }

  #takeSoon(): void {
    if (this.#isTaking || this.#underWay >= STATEMENTS_MAX) return;
    this.#isTaking = true;
    setImmediate(() => {
      this.#isTaking = false;
      const together = this.#waiting.splice(0, CLICKS_A_STATEMENT_MAX);
      if (together.length === 0) return;
      this.#underWay += 1;
      void this.#read(together).finally(() => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#takeSoon();
      });
      if (this.#waiting.length > 0) this.#takeSoon();
    });
  }

  /** Never throws: what goes wrong goes to those who wait. */
  async #read(together: readonly Waiting[]): Promise<void> {
    try {
      const clicks = await selectClicks(this.#clickhouse, {
        // Clicks of no workspace (G140) are there too, so that they are told from clicks on their way.
        where: `click.workspace_id in {workspaceIds: Array(UInt32)}
          and click.ts in {times: Array(DateTime64(3, 'UTC'))}
          and click.click_id in arrayMap(id -> toFixedString(unhex(id), 16), {clickIds: Array(String)})`,
        order: "",
        params: {
          workspaceIds: [0, ...this.#catalog.workspaces.keys()],
          times: [...new Set(together.map(({ atMs }) => clickhouseTime(atMs)))],
          clickIds: together.map(({ clickId }) => clickId),
        },
      });
      if (clicks === "away") {
        for (const { resolve } of together) resolve("away");
        return;
      }
      const byId = new Map(clicks.map((click) => [click.click_id, click]));
      for (const { clickId, resolve } of together) resolve(byId.get(clickId));
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }
}

function clickhouseTime(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}
