import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { SlotHolder } from "./report-slots.ts";

export type InstallationLimits = { readonly perKey: number; readonly perWorkspace: number };

/** How long the slots of a killed process stay taken. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

type Held = { readonly kind: "key" | "workspace"; readonly holder: number; readonly place: number };

/**
 * Slots of reports, counted over all processes of the installation (G205). They are leased rows of `report_place`, so they need no
 * Postgres session and work through PgBouncer.
 */
export class InstallationSlots {
  readonly #db: Queryable;
  readonly #limits: InstallationLimits;
  readonly #owner = randomUUID();
  readonly #held = new Set<Held>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Queryable, limits: InstallationLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  /**
   * Returns the function that releases the slot; undefined when the key or the workspace has used all of its slots. Rejects when
   * Postgres is away.
   */
  async tryTake({ keyId, workspaceId }: SlotHolder): Promise<(() => void) | undefined> {
    const { perKey, perWorkspace } = this.#limits;
    const { rows } = await this.#db.query<{ of_key: number | null; of_workspace: number | null }>({
      name: "take-report-place",
      text: `select of_key, case when of_key is not null then take_report_place('workspace', $3, $4, $5, $6) end as of_workspace
             from take_report_place('key', $1, $2, $5, $6) as of_key`,
      values: [keyId, perKey, workspaceId, perWorkspace, this.#owner, LEASE_MS],
    });
    const [taken] = rows;
    if (taken === undefined || taken.of_key === null) return undefined;
    const ofKey: Held = { kind: "key", holder: keyId, place: taken.of_key };
    if (taken.of_workspace === null) {
      await this.#delete([ofKey]);
      return undefined;
    }
    const held: Held[] = [
      ofKey,
      { kind: "workspace", holder: workspaceId, place: taken.of_workspace },
    ];
    for (const one of held) this.#held.add(one);
    this.#timer ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    return () => this.#giveBack(held);
  }

  /** Releases all slots. While Postgres is away, their leases expire instead. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#held.clear();
    await this.#db
      .query({
        name: "give-report-places-back",
        text: "delete from report_place where owner = $1",
        values: [this.#owner],
      })
      .catch(() => undefined);
  }

  #giveBack(held: readonly Held[]): void {
    for (const one of held) this.#held.delete(one);
    if (this.#held.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // While Postgres is away, the lease expires by itself.
    this.#delete(held).catch(() => undefined);
  }

  async #delete(held: readonly Held[]): Promise<void> {
    await this.#db.query({
      name: "give-report-place-back",
      text: `delete from report_place r using jsonb_to_recordset($2::jsonb) as h(kind text, holder integer, place smallint)
             where r.kind = h.kind and r.holder = h.holder and r.place = h.place and r.owner = $1`,
      values: [this.#owner, JSON.stringify(held)],
    });
  }

  #renew(): void {
    this.#db
      .query({
        name: "renew-report-places",
        text: `update report_place r set expires_at = now() + $3 * interval '1 millisecond'
               from jsonb_to_recordset($2::jsonb) as h(kind text, holder integer, place smallint)
               where r.kind = h.kind and r.holder = h.holder and r.place = h.place and r.owner = $1`,
        values: [this.#owner, JSON.stringify([...this.#held]), LEASE_MS],
      })
      // The next renewal tries again. An expired lease lets others run more reports, which does no harm.
      .catch(() => undefined);
  }
}
