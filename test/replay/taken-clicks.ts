import { clickIdParts } from "../../schemas/ids/click-id.ts";
import { groupBy } from "./group-by.ts";
import type { ClickRow } from "./ledger.ts";
import { WORLD_OFFSET_MS, type WorldOffer } from "./world.ts";

/** A stored click, read for the recount. */
export type Click = {
  readonly row: ClickRow;
  /** UTC ms, from its id. */
  readonly atMs: number;
  /** Which process answered it, and which of its lives: a killed process starts with nothing. */
  readonly life: string;
  /** Partner and visitor. */
  readonly taker: string;
};

/** What can be known of something at the moment of a click: the ends are the same where the contract promises exactness. */
export type Verdict = "yes" | "no" | "either";

export type Knowledge = {
  /** Instants at which every ingress process was killed. */
  readonly ingressKilledAtMs: readonly number[];
  /** After how long a process knows what others have answered, and what it has forgotten itself because it was killed. */
  readonly heardAfterMs: number;
};

const DAY_MS = 86_400_000;

export function readClick(row: ClickRow, taker: string, { ingressKilledAtMs }: Knowledge): Click {
  const { atMs, producer } = clickIdParts(row.click_id);
  // Who answered in the millisecond of the kill was not yet dead: the next life takes longer to begin.
  const deaths = ingressKilledAtMs.filter((killedAtMs) => killedAtMs < atMs).length;
  return { row, atMs, life: `${producer}.${deaths}`, taker };
}

/**
 * The clicks that count against caps and make later ones duplicates: all whose visitor was sent on, duplicates left out. Every
 * question is answered by going through all of them again.
 */
export class TakenClicks {
  readonly #byOffer = new Map<number, Click[]>();
  readonly #knowledge: Knowledge;

  constructor(clicks: readonly Click[], knowledge: Knowledge) {
    this.#knowledge = knowledge;
    for (const click of clicks) {
      const { status, status_reason, offer_id } = click.row;
      if (status !== "redirect" || status_reason === "duplicate") continue;
      const known = this.#byOffer.get(offer_id);
      if (known === undefined) this.#byOffer.set(offer_id, [click]);
      else known.push(click);
    }
  }

  /** Whether a click cap of the offer is reached when `click` comes. */
  isCapReached(offer: WorldOffer, click: Click): Verdict {
    const { daily, total } = offer.rules.caps?.clicks ?? {};
    const all = this.#of(offer.id);
    const today = all.filter(({ atMs }) => dayOf(atMs) === dayOf(click.atMs));
    return oneIsTrue([this.#reached(all, click, total), this.#reached(today, click, daily)]);
  }

  /** Whether the visitor took the offer by the same partner a moment ago. */
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
    // Clicks of the same millisecond came before it or after it: nobody can tell.
    const atMost = counted.filter(
      ({ atMs, row }) => atMs <= click.atMs && row.click_id !== click.row.click_id,
    );
    return atMost.length >= limit ? "either" : "no";
  }

  /** How many of them the process that answered `click` knew for certain. */
  #knownBefore(counted: readonly Click[], click: Click): number {
    const before = counted.filter(({ atMs }) => atMs < click.atMs);
    const own = before.filter(({ life }) => life === click.life).length;
    const heardUntilMs = click.atMs - this.#knowledge.heardAfterMs;
    return Math.max(own, before.filter(({ atMs }) => atMs < heardUntilMs).length);
  }

  /** Clicks that passed a click cap beyond its room, and sentences on those whose process must have known that it was full. */
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

  /** Ids of clicks that one process let through in the same millisecond, more of them than there was room for. */
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

/** Let through by the rules, and not only because it had a `url=`. */
function isPassed({ status_reason }: ClickRow): boolean {
  return ["", "forwarded", "fail_route"].includes(status_reason);
}

/** Number of the day of the replay's workspace. */
export function dayOf(atMs: number): number {
  return Math.floor((atMs + WORLD_OFFSET_MS) / DAY_MS);
}

export function oneIsTrue(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("either") ? "either" : "no";
}
