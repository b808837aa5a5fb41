import { createHmac } from "node:crypto";
import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Report } from "../report/report-params.ts";

/** 128 bits: as many as a random id has. */
const BYTES = 16;

/**
 * Recognises a report that is sent again (G198). Two reports have the same fingerprint if their parameters are equal after aliases,
 * defaults and order are resolved. Token, HTTP method, body format, `test`, the idempotency key and unknown parameters make no
 * difference. Keyed with the secret of the installation, so that a person's address or number cannot be found by trying all values.
 *
 * @returns text that Postgres reads as `bytea`: `\\x` and 32 hex digits.
 */
export function reportFingerprint(secret: string, report: Report): string {
  const { money } = report;
  const canonical = JSON.stringify([
    report.clickId,
    report.adClickId?.kind,
    report.adClickId?.value,
    report.firstClickId,
    report.eventCode,
    ...[money.saleAmount, money.revenue, money.payout].map((amount) =>
      amount === undefined ? null : formatAmount(amount),
    ),
    report.currency,
    report.txid,
    report.status,
    report.offerCode,
    report.affiliateCode,
    report.couponCode,
    report.conversionId,
    report.emailHash,
    report.phoneHash,
    report.userIp,
    Object.entries(report.params),
  ]);
  const digest = createHmac("sha256", secret).update(`report ${canonical}`).digest();
  return `\\x${digest.subarray(0, BYTES).toString("hex")}`;
}
