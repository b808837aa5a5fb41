/**
 * An answered click may lie in the journal of a host that is cut off for this long, ms. After it the click counts as lost, and a
 * click id with a valid MAC that no store has was made up by chance. PRODUCER_PATIENCE_HOURS can make it shorter.
 */
export const JOURNALED_MS = 48 * 3_600_000;
