import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { releaseDueHolds } from "../../processors/schedule/holds.ts";
import { ConversionFleet } from "../system/conversion-fleet.ts";
import {
  type Model,
  ModelConversions,
  type ModelRow,
  type ReportFields,
  type Status,
} from "../system/conversion-model.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const SEQUENCES = IS_FULL ? 2_000 : 40;
const COMMANDS_MAX = IS_FULL ? 50 : 30;
const CLICKS = 3;

/** The service that is compared with the model: it must hold the same rows in the same order. */
type Real = {
  readonly fleet: ConversionFleet;
  readonly offerId: number;
  readonly clickIds: readonly string[];
  /** Prefix of the order IDs of this sequence. */
  readonly run: string;
};
type Command = fc.AsyncCommand<Model, Real>;

const status = fc.constantFrom<Status>("approved", "pending", "rejected");
const amount = fc.integer({ min: 0, max: 40 }).map((tenths) => `${tenths / 10}`);
const fields = fc.record(
  { status, amount, payout: fc.constantFrom("0", "7.7777") },
  { requiredKeys: [] },
);
const place = fc.nat({ max: 7 });
const reason = fc.constantFrom("", "checked", "fraud team");

class Report implements Command {
  readonly #click: number;
  readonly #txid: string;
  readonly #fields: ReportFields;
  constructor(click: number, txid: string, report: ReportFields) {
    this.#click = click;
    this.#txid = txid;
    this.#fields = report;
  }
  check(): boolean {
    return true;
  }
  async run(model: Model, real: Real): Promise<void> {
    const reply = await real.fleet.world.reportUntilAnswered({
      click_id: real.clickIds[this.#click] ?? "",
      ...(this.#txid === "" ? {} : { txid: `${real.run}-${this.#txid}` }),
      ...this.#fields,
    });
    const expected = model.report(this.#click, this.#txid, this.#fields);
    if (expected.isNew) model.rows[expected.place]?.names(String(reply.body["conversion_id"]));
    expectReply(reply, { result: expected.result });
    await expectSame(model, real);
  }
  toString(): string {
    return `report(click ${this.#click}, order "${this.#txid}", ${JSON.stringify(this.#fields)})`;
  }
}

class UpdateById implements Command {
  readonly #place: number;
  readonly #fields: ReportFields;
  constructor(at: number, update: ReportFields) {
    this.#place = at;
    this.#fields = update;
  }
  check(model: Readonly<Model>): boolean {
    return this.#place < model.rows.length;
  }
  async run(model: Model, real: Real): Promise<void> {
    const row = model.rows[this.#place];
    const reply = await real.fleet.world.reportUntilAnswered({
      conversion_id: row?.id ?? "",
      ...this.#fields,
    });
    model.update(this.#place, this.#fields);
    expectReply(reply.body, { ok: true, updated: true, status: row?.status });
    await expectSame(model, real);
  }
  toString(): string {
    return `update(${this.#place}, ${JSON.stringify(this.#fields)})`;
  }
}

class Patch implements Command {
  readonly #places: readonly number[];
  readonly #status: Status;
  readonly #reason: string;
  readonly #bulk: boolean;
  constructor(places: readonly number[], to: Status, why: string, bulk: boolean) {
    this.#places = places;
    this.#status = to;
    this.#reason = why;
    this.#bulk = bulk;
  }
  check(model: Readonly<Model>): boolean {
    return this.#places.every((at) => at < model.rows.length);
  }
  async run(model: Model, real: Real): Promise<void> {
    const { world } = real.fleet;
    const reply = await world.command({
      kind: "set-status",
      workspaceId: world.workspaceId,
      keyId: 1,
      nowMs: Date.now(),
      ids: this.#places.map((at) => model.rows[at]?.id ?? ""),
      bulk: this.#bulk,
      status: this.#status,
      reason: this.#reason,
      notes: null,
    });
    const to = { status: this.#status, reason: this.#reason === "" ? "manual" : this.#reason };
    expectReply(reply, model.patch(this.#places, to, this.#bulk));
    await expectSame(model, real);
  }
  toString(): string {
    return `${this.#bulk ? "bulk " : ""}patch([${this.#places.join()}], ${this.#status}, "${this.#reason}")`;
  }
}

class HoldsEnd implements Command {
  check(): boolean {
    return true;
  }
  async run(model: Model, real: Real): Promise<void> {
    const { world } = real.fleet;
    await world.rows(
      "update conversion set hold_until = clock_timestamp() - interval '1 second' where offer_id = $1 and hold_until is not null",
      [real.offerId],
    );
    while ((await releaseDueHolds(world.pool, 100)) > 0);
    model.endHolds();
    await expectSame(model, real);
  }
  toString(): string {
    return "holds end";
  }
}

describe("conversions follow their model (P19, CNV-026, CNV-033, LIFE-012, LIFE-038, LIFE-039, LIFE-040)", () => {
  test("reports, updates, PATCHes and hold ends match it (LIFE-041, LIFE-042, LIFE-043, LIFE-044)", async (context) => {
    await using fleet = await ConversionFleet.open(2);
    const { world } = fleet;
    world.startWriters();
    const terms = { payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "33.3333" };
    const plain = await world.addOffer(terms);
    const holding = await world.addOffer({ ...terms, hold_days: "1" });
    await fleet.untilCurrent();
    let sequence = 0;
    const commands = fc.commands(
      [
        fc
          .tuple(fc.nat({ max: CLICKS - 1 }), fc.constantFrom("", "", "A", "B"), fields)
          .map(([click, txid, report]) => new Report(click, txid, report)),
        fc.tuple(place, fields).map(([at, update]) => new UpdateById(at, update)),
        fc.tuple(place, status, reason).map(([at, to, why]) => new Patch([at], to, why, false)),
        fc
          .tuple(fc.uniqueArray(place, { minLength: 1, maxLength: 5 }), status, reason)
          .map(([places, to, why]) => new Patch(places, to, why, true)),
        fc.constant(new HoldsEnd()),
      ],
      { maxCommands: COMMANDS_MAX, size: "max" },
    );
    await fc.assert(
      fc.asyncProperty(fc.boolean(), commands, async (isHeld, steps) => {
        sequence += 1;
        const offerId = isHeld ? holding : plain;
        const clickIds = Array.from(
          { length: CLICKS },
          () => world.addYoungClick({ offer_id: offerId }).click_id,
        );
        const real = { fleet, offerId, clickIds, run: `s${sequence}` };
        await fc.asyncModelRun(() => ({ model: new ModelConversions(isHeld), real }), steps);
        world.young.clear();
      }),
      { numRuns: SEQUENCES, endOnFailure: true },
    );
    reportCases(context, { cases: SEQUENCES, violations: 0 });
    await expectTotalHistory(fleet);
  });
});

function expectReply(reply: unknown, expected: Record<string, unknown>): void {
  expect(reply).toMatchObject(expected);
}

async function expectSame(model: Model, { fleet }: Real): Promise<void> {
  const ids = model.rows.map(({ id }) => id);
  const stored = await fleet.world.rows<ModelRow & Record<string, unknown>>(
    `select id, status, status_reason as reason, is_duplicate as "isDuplicate", sale_amount as sale, payout, revenue,
       hold_until is not null as "isHeld"
     from conversion where id = any($1::uuid[]) order by array_position($1::uuid[], id)`,
    [ids],
  );
  expect(stored).toEqual(model.rows.map((row) => row.shown()));
}

/** Every change has a history row, each row begins where the one before it ended, and the last row equals the current state. */
async function expectTotalHistory({ world }: ConversionFleet): Promise<void> {
  const broken = await world.rows(
    `with chain as (
       select h.conversion_id, h.to_status, h.to_payout, h.from_status, h.from_payout,
         lag(h.to_status) over each as before_status, lag(h.to_payout) over each as before_payout,
         row_number() over each as place, count(*) over (partition by h.conversion_id) as places
       from conversion_history h window each as (partition by h.conversion_id order by h.id))
     select conversion_id, place from chain join conversion c on c.id = conversion_id
     where from_status is distinct from before_status or from_payout is distinct from before_payout
       or c.version <> places or (place = places and (to_status <> c.status or to_payout <> c.payout))`,
  );
  expect(broken).toEqual([]);
}
