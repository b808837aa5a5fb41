import { z } from "zod";
import { type HttpAnswer, pause, type ServiceClient } from "../system/service.ts";
import type { PlannedVisit } from "./plan.ts";
import { readVisitAnswer, type VisitAnswer, visitRequest } from "./visit-request.ts";
import type { World } from "./world.ts";
import { SORRY } from "./world-offers.ts";

/** The answers to one visit. Times are UTC ms of this machine. */
export type VisitRecord = {
  readonly visit: PlannedVisit;
  /** Number of the attempt that was answered. */
  readonly answeredAttempt: number;
  readonly answer: VisitAnswer;
  /** When the answered attempt was sent. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** Attempts without an answer. Each may or may not have been recorded. */
  readonly unansweredAttempts: readonly number[];
  /** Undefined if the visit did not convert. */
  readonly conversion: ConversionRecord | undefined;
};

/** The answers of `/pb` about one conversion. */
export type ConversionRecord = {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly isRepeat: boolean;
  /** Before the first attempt. */
  readonly sentAtMs: number;
  /** After the answer. */
  readonly answeredAtMs: number;
  /** Postbacks with an unknown outcome. Each may have left another row, a rejected duplicate. */
  readonly unansweredPostbacks: number;
};

export type SendOptions = {
  readonly run: string;
  readonly ratePerSecond: number;
  readonly concurrency: number;
  readonly onProgress: (sent: number) => void;
};

type Sender = { readonly client: ServiceClient; readonly world: World; readonly run: string };

const PostbackBody = z.object({
  ok: z.boolean(),
  conversion_id: z.string().nullish(),
  status: z.string().optional(),
  reason: z.string().optional(),
  duplicate: z.boolean().optional(),
});
const ATTEMPTS_MAX = 400;
const RETRY_MS = 250;

/**
 * Sends every visit at the chosen rate, each until it is answered. If a visit that converts reaches an offer, it reports its
 * conversion right after its click. @throws if a visit has no answer after 400 attempts, or an answer that no retry can change.
 */
export async function sendVisits(
  service: Omit<Sender, "run">,
  visits: readonly PlannedVisit[],
  options: SendOptions,
): Promise<VisitRecord[]> {
  const sender = { ...service, run: options.run };
  const records: VisitRecord[] = [];
  const startedAtMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < visits.length; index = next++) {
      const visit = visits[index];
      if (visit === undefined) return;
      const dueMs = startedAtMs + (index / options.ratePerSecond) * 1_000;
      if (dueMs > performance.now()) await pause(dueMs - performance.now());
      records.push(await sendVisit(sender, visit));
      options.onProgress(records.length);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return records;
}

async function sendVisit(sender: Sender, visit: PlannedVisit): Promise<VisitRecord> {
  const clicked = await click(sender, visit);
  const converts = visit.converts && hasReachedOffer(clicked);
  const conversion = converts ? await convert(sender, clicked) : undefined;
  return { ...clicked, conversion };
}

type Clicked = Omit<VisitRecord, "conversion">;

/** Whether the visitor reached an offer and so may buy there. */
function hasReachedOffer({ visit, answer }: Clicked): boolean {
  const { target } = visit;
  if (answer.clickId === "" || target.kind === "impression") return false;
  if (target.kind === "link" && target.form === "server") return answer.error === "0";
  return answer.status === 302 && !answer.location.startsWith(SORRY);
}

async function click({ client, world, run }: Sender, visit: PlannedVisit): Promise<Clicked> {
  const { number } = visit.line;
  const unansweredAttempts: number[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { path, headers } = visitRequest(world, visit, { run, number: attempt });
    const sentAtMs = Date.now();
    let answer: HttpAnswer;
    try {
      answer = await client.attempt(`${client.demo.tracking_url}${path}`, headers);
    } catch {
      // The outcome is unknown: the ledger lists the attempt separately, and the visitor tries again.
      unansweredAttempts.push(attempt);
      await pause(RETRY_MS);
      continue;
    }
    if (answer.status === 503) {
      await pause(RETRY_MS);
      continue;
    }
    if (![200, 302, 403, 404].includes(answer.status))
      throw new Error(`line ${number}: HTTP ${answer.status} ${answer.body.slice(0, 200)}`);
    return {
      visit,
      answeredAttempt: attempt,
      answer: readVisitAnswer(answer),
      sentAtMs,
      answeredAtMs: Date.now(),
      unansweredAttempts,
    };
  }
  throw new Error(`line ${number}: no answer in ${ATTEMPTS_MAX} attempts`);
}

async function convert(
  { client, world, run }: Sender,
  { visit, answer: { clickId } }: Clicked,
): Promise<ConversionRecord> {
  const { line, saleAmount } = visit;
  const query = new URLSearchParams({
    token: world.postbackToken,
    click_id: clickId,
    txid: `${run}-${line.number}`,
    amount: saleAmount,
  });
  const url = `${client.demo.tracking_url}/pb?${query}`;
  const headers: Record<string, string> = world.host === "" ? {} : { host: world.host };
  const sentAtMs = Date.now();
  let unansweredPostbacks = 0;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const answer = await client.attempt(url, headers).catch(() => undefined);
    if (answer === undefined || answer.status === 503) {
      // The service may answer 503 before or after its commit, so a repeat may find the first report stored.
      unansweredPostbacks += 1;
      await pause(RETRY_MS);
      continue;
    }
    const { ok, ...stored } = PostbackBody.parse(JSON.parse(answer.body));
    if (answer.status !== 200 || !ok) {
      throw new Error(
        `line ${line.number}: conversion refused: HTTP ${answer.status} ${answer.body.slice(0, 200)}`,
      );
    }
    return {
      id: stored.conversion_id ?? "",
      status: stored.status ?? "",
      reason: stored.reason ?? "",
      isRepeat: stored.duplicate === true,
      sentAtMs,
      answeredAtMs: Date.now(),
      unansweredPostbacks,
    };
  }
  throw new Error(`line ${line.number}: conversion not answered in ${ATTEMPTS_MAX} attempts`);
}
