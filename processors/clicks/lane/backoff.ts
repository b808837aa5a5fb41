/** The waits of every loop of the click writer. Its processes lose their servers together, and do not come back together. */
export const BACKOFF = { firstMs: 200, longestMs: 5_000, spread: [0.5, 1] } as const;
