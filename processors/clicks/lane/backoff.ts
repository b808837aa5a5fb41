/**
 * Waits between attempts of the lane, its reader and the lane keeper. Random, because all processes lose their servers at once and
 * must not return at once.
 */
export const BACKOFF = { firstMs: 200, longestMs: 5_000, spread: [0.5, 1] } as const;
