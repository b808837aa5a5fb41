/** The source of time for code that depends on it. */
export interface Clock {
  /** UTC milliseconds since 1970. May step backwards when the host's clock is corrected. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
