import { createHmac } from "node:crypto";
import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Report } from "./report-params.ts";

/** 128 bits: as many as a random id has. */
const BYTES = 16;

/**
 * Recognises a report that is sent again (G198): equal for reports whose parameters say the same once aliases, defaults and order
 * are resolved. Token, HTTP method, body format, `test`, the idempotency key and parameters that nothing reads make no difference.
 * Keyed with the secret of the installation, so that nobody can find out a person's address or number by trying them all.
 *
 * @returns what Postgres reads as `bytea`: `\\x` and 32 hex digits.
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
