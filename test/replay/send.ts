import { z } from "zod";
import type { PlannedVisit } from "./plan.ts";
import { type HttpAnswer, pause, type ServiceClient } from "./service.ts";

/** What is known of one visit from its answers. */
export type VisitRecord = {
  readonly visit: PlannedVisit;
  /** Attempt whose answer came, and the click id it gave. */
  answeredAttempt: number;
  clickId: string;
  location: string;
  /** Attempts without an answer: each may or may not have been recorded. */
  unansweredAttempts: number[];
  /** Answer of `/pb`; undefined when the visit does not convert. */
  conversion:
    | { readonly id: string; readonly status: string; readonly isRepeat: boolean }
    | undefined;
  /** Postbacks whose outcome was unknown: each may have left one more row, a rejected duplicate. */
  unansweredPostbacks: number;
};

export type SendOptions = {
  readonly run: string;
  readonly ratePerSecond: number;
  readonly concurrency: number;
  readonly onProgress: (sent: number) => void;
};

const PostbackBody = z.object({
  ok: z.boolean(),
  conversion_id: z.string().optional(),
  status: z.string().optional(),
  duplicate: z.boolean().optional(),
});
const ATTEMPTS_MAX = 400;
const RETRY_MS = 250;

/**
 * Sends every visit at the chosen rate, each until it is answered. A visit that converts reports its conversion right after
 * its click. @throws when a visit finds no answer in 400 attempts, or an answer that no retry can mend.
 */
export async function sendVisits(
  client: ServiceClient,
  visits: readonly PlannedVisit[],
  options: SendOptions,
): Promise<VisitRecord[]> {
  const records: VisitRecord[] = [];
  const startedAtMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < visits.length; index = next++) {
      const visit = visits[index];
      if (visit === undefined) return;
      const dueMs = startedAtMs + (index / options.ratePerSecond) * 1_000;
      if (dueMs > performance.now()) await pause(dueMs - performance.now());
      records.push(await sendVisit(client, visit, options.run));
      options.onProgress(records.length);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return records;
}

async function sendVisit(
  client: ServiceClient,
  visit: PlannedVisit,
  run: string,
): Promise<VisitRecord> {
  const record: VisitRecord = {
    visit,
    answeredAttempt: 0,
    clickId: "",
    location: "",
    unansweredAttempts: [],
    conversion: undefined,
    unansweredPostbacks: 0,
  };
  await click(client, record, run);
  if (visit.converts) await convert(client, record, run);
  return record;
}

async function click(client: ServiceClient, record: VisitRecord, run: string): Promise<void> {
  const { line, offer, affiliate } = record.visit;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const query = new URLSearchParams({
      sub1: run,
      sub2: String(line.number),
      sub3: String(attempt),
      page: line.path,
    });
    const url = `${client.demo.tracking_url}/r/${offer.code}/${affiliate.code}?${query}`;
    const headers: Record<string, string> = { "x-forwarded-for": line.ip };
    if (line.userAgent !== "") headers["user-agent"] = line.userAgent;
    if (line.referrer !== "") headers["referer"] = line.referrer;
    let answer: HttpAnswer;
    try {
      answer = await client.attempt(url, headers);
    } catch {
      // No answer, so no promise: the attempt is kept apart in the ledger and the visitor tries again.
      record.unansweredAttempts.push(attempt);
      await pause(RETRY_MS);
      continue;
    }
    if (answer.status === 503) {
      await pause(RETRY_MS);
      continue;
    }
    if (answer.status !== 302)
      throw new Error(`line ${line.number}: HTTP ${answer.status} ${answer.body.slice(0, 200)}`);
    record.answeredAttempt = attempt;
    record.location = String(answer.headers["location"] ?? "");
    record.clickId =
      /trk_cid=([0-9a-f]{32})/.exec(String(answer.headers["set-cookie"] ?? ""))?.[1] ?? "";
    return;
  }
  throw new Error(`line ${line.number}: no answer in ${ATTEMPTS_MAX} attempts`);
}

async function convert(client: ServiceClient, record: VisitRecord, run: string): Promise<void> {
  const { line, saleAmount } = record.visit;
  const query = new URLSearchParams({
    token: client.demo.postback_token,
    click_id: record.clickId,
    txid: `${run}-${line.number}`,
    amount: saleAmount,
  });
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    let answer: HttpAnswer;
    try {
      answer = await client.attempt(`${client.demo.tracking_url}/pb?${query}`);
    } catch {
      record.unansweredPostbacks += 1;
      await pause(RETRY_MS);
      continue;
    }
    if (answer.status === 503) {
      // Said before or after the commit: a repeat may find the first one stored.
      record.unansweredPostbacks += 1;
      await pause(RETRY_MS);
      continue;
    }
    const body = PostbackBody.parse(JSON.parse(answer.body));
    if (answer.status !== 200 || !body.ok) {
      throw new Error(
        `line ${line.number}: conversion refused: HTTP ${answer.status} ${answer.body.slice(0, 200)}`,
      );
    }
    record.conversion = {
      id: body.conversion_id ?? "",
      status: body.status ?? "",
      isRepeat: body.duplicate === true,
    };
    return;
  }
  throw new Error(`line ${line.number}: conversion not answered in ${ATTEMPTS_MAX} attempts`);
}
