/**
 * Milliseconds during which an answered click may exist only in the journal of an ingress that is cut off. A missing click that is
 * older counts as lost or never made, so it is reported as unknown. The click writers give up a silent journal earlier if
 * PRODUCER_PATIENCE_HOURS is less than 48.
 */
export const JOURNALED_MS = 48 * 3_600_000;
