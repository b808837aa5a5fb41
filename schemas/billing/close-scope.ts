import type { Cause } from "../events/cause.ts";

/** Which periods of which advertisers are closed. */
export type CloseScope = {
  readonly workspaceId: number;
  readonly timezone: string;
  /** Periods that ended at this instant or earlier are closed. */
  readonly endedByMs: number;
  /** Closes also what was posted after the last whole period and before this instant, whatever the terms are. */
  readonly untilMs?: number | undefined;
  readonly advertiserId?: number | undefined;
  /** Answers what would be closed and changes nothing. */
  readonly isDryRun: boolean;
  /** No further account is begun after this many invoices. */
  readonly invoicesMax: number;
  readonly cause?: Cause | undefined;
};
