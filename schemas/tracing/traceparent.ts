/** Of W3C Trace Context. */
export type Traceparent = {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
};

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** An ID of zeros is not an ID. */
const ZEROS = /^0+$/;

/** Undefined for a text that is not a traceparent of version 00. */
export function readTraceparent(text: string): Traceparent | undefined {
  const [, traceId = "", spanId = "", flags = ""] = FORM.exec(text) ?? [];
  if (traceId === "" || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function writeTraceparent({ traceId, spanId, flags }: Traceparent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
}
