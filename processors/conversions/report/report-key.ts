import type { Sender } from "./sender.ts";

/** The idempotency key of a report, unique per owner of the token (G203), and the fingerprint of the report. */
export type ReportKey = {
  readonly workspace_id: number;
  /** 0 for the workspace's own token. */
  readonly advertiser_id: number;
  readonly key: string;
  readonly fingerprint: string;
};

/** Undefined without a key, for a test (which stores nothing) and for a pixel. */
export function reportKey(
  sender: Sender,
  report: { readonly idempotencyKey: string | undefined; readonly isTest: boolean },
  fingerprint: string,
): ReportKey | undefined {
  if (report.idempotencyKey === undefined || report.isTest || sender.kind === "pixel")
    return undefined;
  return {
    workspace_id: sender.workspace.id,
    advertiser_id: sender.kind === "advertiser" ? sender.advertiser.id : 0,
    key: report.idempotencyKey,
    fingerprint,
  };
}
