import { Conditions } from "./conditions.ts";
import { differing } from "./differing.ts";
import type { Visitor } from "./expectation.ts";
import { attemptKey, attemptsByKey, type ClickRow } from "./ledger.ts";
import { type Outcome, Outcomes } from "./outcomes.ts";
import { type CountedConversion, ReachedConversionCaps } from "./recounted-caps.ts";
import type { VisitRecord } from "./send.ts";
import { type Click, type Knowledge, readClick, TakenClicks } from "./taken-clicks.ts";
import { userAgentOf } from "./visit-request.ts";
import { unlikelyShares } from "./weighted-shares.ts";
import { offerOf, type World } from "./world.ts";

export type RecountOptions = {
  readonly world: World;
  readonly run: string;
  readonly records: readonly VisitRecord[];
  readonly clicks: readonly ClickRow[];
  readonly visitorOf: (ip: string, userAgent: string) => Visitor;
  readonly countedConversions: readonly CountedConversion[];
  readonly knowledge: Knowledge;
};

export type Recount = {
  readonly differences: readonly string[];
  /** Clicks for which more than one condition is right. */
  readonly eitherWay: number;
  /** Clicks that exceeded a full click cap because their process did not know of it yet. */
  readonly beyondCaps: number;
};

const LINK_TYPES = { path: "affiliate", query: "affiliate", key: "transparent", server: "server" };

/** Compares every stored click with the outcome by the rules of the world, and every answer with its stored click. */
export function recountClicks(options: RecountOptions): Recount {
  const { world, records, clicks, knowledge } = options;
  const attempts = attemptsByKey(records);
  const matched = clicks.flatMap((row) => {
    const record = attempts.get(attemptKey(row.sub2, row.sub3));
    if (record === undefined) return [];
    const { visit } = record;
    const visitor = options.visitorOf(visit.line.ip, userAgentOf(visit));
    const taker = `${visit.partner.id} ${visitor.ip} ${visitor.userAgent}`;
    return [{ record, visitor, click: readClick(row, taker, knowledge) }];
  });
  const taken = new TakenClicks(
    matched.map(({ click }) => click),
    knowledge,
  );
  const history = {
    taken,
    conversionCaps: new ReachedConversionCaps(options.countedConversions, knowledge.knownAfterMs),
  };
  const outcomes = new Outcomes(world, new Conditions(world, history));
  const judged = matched.map((one) => judge(options, outcomes, one));
  const beyond = taken.beyondCaps(world.offers);
  return {
    differences: [
      ...storedOnce(options, attempts),
      ...judged.flatMap(({ differences }) => differences),
      ...uniqueOnce(
        matched.map(({ click }) => click),
        world,
      ),
      ...beyond.differences,
      ...unlikelyShares(
        judged.map(({ right }, at) => ({ right, chosenId: matched[at]?.click.row.offer_id ?? 0 })),
      ),
    ],
    eitherWay: judged.filter(({ isEitherWay }) => isEitherWay).length,
    beyondCaps: beyond.passed,
  };
}

/** Every answered click is stored once, and no click that was never requested. */
function storedOnce(
  { records, clicks }: RecountOptions,
  attempts: ReadonlyMap<string, VisitRecord>,
): string[] {
  const stored = new Map<string, number>();
  for (const { sub2, sub3 } of clicks) {
    const key = attemptKey(sub2, sub3);
    stored.set(key, (stored.get(key) ?? 0) + 1);
  }
  const strange = [...stored.keys()].filter((key) => !attempts.has(key));
  const repeated = [...stored].filter(([, count]) => count > 1);
  const missing = records.filter(
    ({ visit, answeredAttempt }) =>
      isStored(visit.target.kind) && !stored.has(attemptKey(visit.line.number, answeredAttempt)),
  );
  const unexpected = [...attempts].filter(
    ([key, { visit }]) => stored.has(key) && !isStored(visit.target.kind),
  );
  return [
    ...strange.map((key) => `a click of attempt ${key} (line, attempt) was never requested`),
    ...repeated.map(([key, count]) => `attempt ${key} (line, attempt) is stored ${count} times`),
    ...missing.map(({ visit }) => `line ${visit.line.number}: its click is not stored`),
    ...unexpected.map(
      ([key]) => `attempt ${key} (line, attempt) must not make a click of this workspace`,
    ),
  ];
}

function isStored(kind: string): boolean {
  return kind === "link" || kind === "smart";
}

type MatchedClick = {
  readonly record: VisitRecord;
  readonly visitor: Visitor;
  readonly click: Click;
};

function judge(
  { world, run }: RecountOptions,
  outcomes: Outcomes,
  { record, visitor, click }: MatchedClick,
): { differences: string[]; right: readonly Outcome[]; isEitherWay: boolean } {
  const { visit } = record;
  const { row } = click;
  const { target } = visit;
  const where = `line ${visit.line.number}`;
  // A custom link key has its own partner.
  const custom = world.linkKeys.find(({ key }) => "key" in target && key === target.key);
  const partnerId = custom?.partnerId ?? visit.partner.id;
  const right = outcomes.of(visit, { click, visitor, partnerId, sub4: visit.sub4 });
  const isRight = right.some((outcome) => isOutcome(world, outcome, { row, partnerId, run }));
  const differences = [
    ...(isRight
      ? []
      : [`${where}: ${shown(row)}, the recount has ${right.map(shownRight).join(" or ")}`]),
    ...differing(where, [
      ["affiliate_id", row.affiliate_id, partnerId],
      ["smart_link_id", row.smart_link_id, target.kind === "smart" ? target.link.id : 0],
      ["link_type", row.link_type, target.kind === "link" ? LINK_TYPES[target.form] : "smart"],
      ["country", row.country, visitor.country],
      ["device_type", row.device_type, visitor.deviceType],
      ["os", row.os, visitor.os],
      ["browser", row.browser, visitor.browser],
      ["is_bot", row.is_bot, visitor.isBot],
    ]),
    ...(row.sub3 === String(record.answeredAttempt) ? answerDifferences(where, record, click) : []),
  ];
  const conditions = new Set(right.map(({ status, reason }) => `${status} ${reason}`));
  return { differences, right, isEitherWay: conditions.size > 1 };
}

/** Differences between the answer to the visitor and the stored click. */
function answerDifferences(where: string, record: VisitRecord, { row, atMs }: Click): string[] {
  const { answer, visit, sentAtMs, answeredAtMs } = record;
  const isServer = visit.target.kind === "link" && visit.target.form === "server";
  const status = row.status === "blocked" ? 403 : isServer || row.destination === "" ? 200 : 302;
  const isInTime = sentAtMs <= atMs && atMs <= answeredAtMs;
  return [
    ...differing(where, [
      ["HTTP status", status, answer.status],
      ["click_id", row.status === "blocked" ? "" : row.click_id, answer.clickId],
      ["destination", row.destination, answer.location],
    ]),
    ...(isServer ? differing(where, [["error_code", codeOf(row), answer.error]]) : []),
    ...(row.status === "blocked"
      ? differing(where, [["status_reason", row.status_reason, answer.error]])
      : []),
    ...(isInTime ? [] : [`${where}: the time in its click id is outside its request`]),
  ];
}

/** `error_code` of `/clk` for the condition that failed. */
function codeOf({ status, status_reason }: ClickRow): string {
  const codes: Readonly<Record<string, string>> = {
    paused: "4",
    not_approved: "5",
    targeting: "6",
    cap: "7",
    workspace_inactive: "8",
    traffic_control: "9",
    duplicate: "10",
  };
  return status === "redirect" ? "0" : (codes[status_reason] ?? "?");
}

function isOutcome(
  world: World,
  outcome: Outcome,
  { row, partnerId, run }: { row: ClickRow; partnerId: number; run: string },
): boolean {
  const offer = outcome.offerId === 0 ? undefined : offerOf(world, outcome.offerId);
  const partner = world.partners.find(({ id }) => id === partnerId);
  const location = outcome.location
    .replaceAll("{click_id}", row.click_id)
    .replaceAll("{sub1}", run)
    .replaceAll("{sub2}", row.sub2)
    .replaceAll("{affiliate_code}", partner?.code ?? "")
    .replaceAll("{offer_code}", offer?.code ?? "");
  return (
    row.status === outcome.status &&
    row.status_reason === outcome.reason &&
    row.offer_id === outcome.offerId &&
    row.destination === location
  );
}

function shown({ status, status_reason, offer_id, destination }: ClickRow): string {
  return `${status} "${status_reason}" of offer ${offer_id} to "${destination}"`;
}

function shownRight({ status, reason, offerId, location }: Outcome): string {
  return `${status} "${reason}" of offer ${offerId} to "${location}"`;
}

/**
 * Each person has exactly one unique click for an offer and partner (G87), unless that was in an earlier run. Blocked clicks and
 * clicks of bots are never unique.
 */
function uniqueOnce(clicks: readonly Click[], { isFresh }: World): string[] {
  const uniques = new Map<string, number>();
  for (const { row, taker } of clicks) {
    if (row.is_bot || row.status === "blocked") {
      if (row.is_unique) uniques.set(`blocked or bot ${row.click_id}`, 2);
      continue;
    }
    const key = `offer ${row.offer_id}, partner ${row.affiliate_id}, visitor ${taker}`;
    uniques.set(key, (uniques.get(key) ?? 0) + (row.is_unique ? 1 : 0));
  }
  return [...uniques]
    .filter(([, count]) => count > 1 || (count < 1 && isFresh))
    .map(([key, count]) => `${key}: ${count} of its clicks are unique`);
}
