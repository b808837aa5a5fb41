import { clickIdParts } from "../../schemas/ids/click-id.ts";
import { groupBy } from "./group-by.ts";
import type { ClickRow } from "./ledger.ts";
import { WORLD_OFFSET_MS, type WorldOffer } from "./world.ts";

/** A stored click, parsed for the recount. */
export type Click = {
  readonly row: ClickRow;
  /** UTC ms, from its id. */
  readonly atMs: number;
  /** The process that answered it, and which of its starts: a killed process starts without memory. */
  readonly life: string;
  /** Key of partner and visitor. */
  readonly taker: string;
};

/** Whether a condition holds at the moment of a click: "either" where the contract requires no exact answer. */
export type Verdict = "yes" | "no" | "either";

export type Knowledge = {
  /** Instants at which every ingress process was killed. */
  readonly ingressKilledAtMs: readonly number[];
  /** After this time a process knows the clicks that others answered, and those that it lost itself when it was killed. */
  readonly knownAfterMs: number;
};

const DAY_MS = 86_400_000;

export function readClick(row: ClickRow, taker: string, { ingressKilledAtMs }: Knowledge): Click {
  const { atMs, producer } = clickIdParts(row.click_id);
  // A click in the millisecond of the kill was answered before it: the next process needs longer to start.
  const deaths = ingressKilledAtMs.filter((killedAtMs) => killedAtMs < atMs).length;
  return { row, atMs, life: `${producer}.${deaths}`, taker };
}

/**
 * The clicks that count against caps and make later clicks duplicates: all redirected clicks except duplicates. Each method goes
 * through all of them again, which is slow but obviously right.
 */
export class TakenClicks {
  readonly #byOffer = new Map<number, Click[]>();
  readonly #knowledge: Knowledge;

  constructor(clicks: readonly Click[], knowledge: Knowledge) {
    this.#knowledge = knowledge;
    for (const click of clicks) {
      const { status, status_reason, offer_id } = click.row;
      if (status !== "redirect" || status_reason === "duplicate") continue;
      const others = this.#byOffer.get(offer_id);
      if (others === undefined) this.#byOffer.set(offer_id, [click]);
      else others.push(click);
    }
  }

  /** Whether `click` meets a full click cap of the offer. */
  isCapReached(offer: WorldOffer, click: Click): Verdict {
    const { daily, total } = offer.rules.caps?.clicks ?? {};
    const all = this.#of(offer.id);
    const today = all.filter(({ atMs }) => dayOf(atMs) === dayOf(click.atMs));
    return oneIsTrue([this.#reached(all, click, total), this.#reached(today, click, daily)]);
  }

  /** Whether the visitor used the offer by the same partner within the duplicate window. */
  isDuplicate(offer: WorldOffer, click: Click): Verdict {
    const { duplicateSeconds = 0 } = offer.rules;
    if (duplicateSeconds === 0) return "no";
    const recent = this.#of(offer.id).filter(
      ({ taker, atMs }) => taker === click.taker && click.atMs - atMs < duplicateSeconds * 1_000,
    );
    return this.#reached(recent, click, 1);
  }

  #of(offerId: number): readonly Click[] {
    return this.#byOffer.get(offerId) ?? [];
  }

  #reached(counted: readonly Click[], click: Click, limit: number | undefined): Verdict {
    if (limit === undefined) return "no";
    if (this.#knownBefore(counted, click) >= limit) return "yes";
    // The order of clicks in the same millisecond is unknown.
    const atMost = counted.filter(
      ({ atMs, row }) => atMs <= click.atMs && row.click_id !== click.row.click_id,
    );
    return atMost.length >= limit ? "either" : "no";
  }

  /** How many of them the process that answered `click` must have known. */
  #knownBefore(counted: readonly Click[], click: Click): number {
    const before = counted.filter(({ atMs }) => atMs < click.atMs);
    const own = before.filter(({ life }) => life === click.life).length;
    const knownUntilMs = click.atMs - this.#knowledge.knownAfterMs;
    return Math.max(own, before.filter(({ atMs }) => atMs < knownUntilMs).length);
  }

  /** Counts the clicks that exceeded a full click cap. Each whose process must have known that the cap was full is a difference. */
  beyondCaps(offers: readonly WorldOffer[]): { passed: number; differences: string[] } {
    const capped = offers.filter(({ rules }) => rules.caps?.alert_only !== true);
    const each = capped.flatMap((offer) => {
      const { daily, total } = offer.rules.caps?.clicks ?? {};
      const all = this.#of(offer.id);
      return [
        ...(total === undefined ? [] : [{ offer, limit: total, counted: all }]),
        ...(daily === undefined
          ? []
          : [...groupBy(all, ({ atMs }) => dayOf(atMs)).values()].map((counted) => ({
              offer,
              limit: daily,
              counted,
            }))),
      ];
    });
    return {
      passed: each.reduce((sum, { counted, limit }) => sum + passedBeyond(counted, limit), 0),
      differences: each.flatMap(({ offer, counted, limit }) =>
        this.#crowded(counted, limit).map(
          (click) => `offer ${offer.code}: its cap of ${limit} had no room for click ${click}`,
        ),
      ),
    };
  }

  /** IDs of clicks that one process accepted in the same millisecond although the cap had no room for all of them. */
  #crowded(counted: readonly Click[], limit: number): string[] {
    const passed = counted.filter(({ row }) => isPassed(row));
    const instants = groupBy(passed, ({ life, atMs }) => `${life} ${atMs}`);
    return [...instants.values()].flatMap((together) => {
      const [first] = together;
      if (first === undefined) return [];
      const isOver = this.#knownBefore(counted, first) + together.length > limit;
      return isOver ? [first.row.click_id] : [];
    });
  }
}

function passedBeyond(counted: readonly Click[], limit: number): number {
  const inOrder = counted.toSorted((a, b) => a.atMs - b.atMs);
  return inOrder.slice(limit).filter(({ row }) => isPassed(row)).length;
}

/** Accepted by the rules, not merely redirected because of a `url=`. */
function isPassed({ status_reason }: ClickRow): boolean {
  return ["", "forwarded", "fail_route"].includes(status_reason);
}

/** Day number in the time zone of the replay's workspace. */
export function dayOf(atMs: number): number {
  return Math.floor((atMs + WORLD_OFFSET_MS) / DAY_MS);
}

export function oneIsTrue(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("either") ? "either" : "no";
}
