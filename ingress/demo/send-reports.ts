import { pause } from "../../schemas/host/pause.ts";
import { newRequestId } from "../../schemas/ids/request-id.ts";
import { askConversions, type ConversionsLink, isOutage } from "../ask-conversions.ts";
import type { PlannedReport } from "./plan-reports.ts";

/** A planned report and its click. */
export type DemoReport = PlannedReport & { readonly clickId: string };

export type ReportsSender = ConversionsLink & {
  readonly token: string;
  readonly host: string;
  readonly signal: AbortSignal;
};

const AT_ONCE_MAX = 64;
const ATTEMPTS_MAX = 5;
const AGAIN_MS = 300;
/** The advertiser's server. The address is reserved for documentation. */
const SENDER = { ip: "203.0.113.20", userAgent: "demo-shop/1.0" };

/**
 * Sends reports to the conversion processors as `/pb` does, with the time at which the advertiser would have sent them. Reports about
 * existing conversions follow when all others are recorded.
 */
export async function sendReports(
  reports: readonly DemoReport[],
  sender: ReportsSender,
): Promise<void> {
  const inTime = reports.toSorted((a, b) => a.atMs - b.atMs);
  await sendAll(
    inTime.filter(({ isLater }) => !isLater),
    sender,
  );
  await sendAll(
    inTime.filter(({ isLater }) => isLater),
    sender,
  );
}

/** At most {@link AT_ONCE_MAX} at a time. */
async function sendAll(reports: readonly DemoReport[], sender: ReportsSender): Promise<void> {
  const left = reports[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const report of left) await sendOne(report, sender);
  };
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, worker));
}

/** @throws when the processors do not answer. */
async function sendOne(report: DemoReport, sender: ReportsSender): Promise<void> {
  const { host, signal, token } = sender;
  const { atMs, params, clickId } = report;
  const requestId = newRequestId();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    signal.throwIfAborted();
    const reply = await askConversions(sender, {
      ...SENDER,
      endpoint: "pb",
      params: { ...params, token, click_id: clickId },
      cookieClickId: "",
      host,
      receivedAtMs: atMs,
      requestId,
    });
    if (!isOutage(reply)) return;
    await pause(AGAIN_MS, signal);
  }
  throw new Error("the conversion processors do not answer");
}
