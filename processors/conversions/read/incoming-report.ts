import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import type { ReportKey } from "../report/report-key.ts";
import type { Report } from "../report/report-params.ts";
import type { Origin } from "./resolve-target.ts";

/** A well-formed report from a known sender. */
export type Incoming = {
  readonly rawReport: PostbackRequest;
  readonly report: Report;
  /** Hash by which a repeat of the report is recognised (`reportFingerprint`). */
  readonly fingerprint: string;
  readonly key: ReportKey | undefined;
  readonly origin: Origin;
};
