/** A row that stays as it is, and why. */
export type Skipped = { readonly name: string; readonly why: string };

/** What became of rows that were sent. `left` has those that were not changed because of the error. */
export type Sent = {
  readonly done: readonly string[];
  readonly skipped: readonly Skipped[];
  readonly left: readonly string[];
  readonly error?: unknown;
};

/** How rows are sent. Who leaves the page has no time for a second request. */
export type Way = { readonly isLeaving: boolean; readonly onSent: (count: number) => void };

/** A decision about some rows of one kind, by their keys. */
export type Decided = {
  /** A later decision about a row of the same kind takes the place of the earlier one. */
  readonly kind: string;
  readonly keys: readonly string[];
  /** Such as "3 conversions", or one by its name. */
  readonly what: (keys: readonly string[]) => string;
  /** Such as "rejected". */
  readonly verb: string;
  /** Such as "Reject". */
  readonly button: string;
  /** Rows that were chosen but do not need the decision. */
  readonly skipped: readonly Skipped[];
  readonly send: (keys: readonly string[], way: Way) => Promise<Sent>;
  /** Told of the rows that stay as they were: after Undo and after a failure. */
  readonly onBack: (keys: readonly string[]) => void;
};

export type Notice = Decided & {
  readonly id: number;
  readonly state: "waiting" | "sending" | "done" | "undone" | "failed";
  /** Until it is sent, or until a finished notice goes. */
  readonly leftMs: number;
  /** Rows that have been sent so far. */
  readonly sent: number;
  readonly done: readonly string[];
  readonly error?: unknown;
};

export const WAIT_MS = 10_000;
const SHOWN_MS = 8_000;
const TICK_MS = 250;
/** More would cover the screen. The oldest that waits is then sent at once. */
const NOTICES_MAX = 3;
/** Chromium sends at most 64 KiB when a page is left. */
const LEAVING_MAX = 1_500;

/**
 * Decisions that wait for ten seconds before they are sent, so that they can be taken back: what a partner was told about money cannot.
 * The page holds one of these for as long as it lives, because a screen may be left meanwhile.
 */
export class Decisions {
  #notices: readonly Notice[] = [];
  #nextId = 1;
  #timer: ReturnType<typeof setInterval> | undefined;
  #tickedMs = 0;
  readonly #listeners = new Set<() => void>();
  readonly #isHeld: () => boolean;

  /** @param isHeld Whether somebody reads or reaches for a notice: then no time passes. */
  constructor(isHeld: () => boolean) {
    this.#isHeld = isHeld;
  }

  readonly notices = (): readonly Notice[] => this.#notices;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  decide(decided: Decided): void {
    const again = new Set(decided.keys);
    const before = this.#notices.flatMap((notice): readonly Notice[] => {
      if (notice.state !== "waiting" || notice.kind !== decided.kind) return [notice];
      const keys = notice.keys.filter((key) => !again.has(key));
      return keys.length === 0 ? [] : [{ ...notice, keys }];
    });
    const id = this.#nextId++;
    // Where no row needs the decision, there is nothing to wait for.
    const state = decided.keys.length === 0 ? "done" : "waiting";
    this.#set([...before, { ...decided, id, state, leftMs: WAIT_MS, sent: 0, done: [] }]);
    this.#bound();
    this.#run();
  }

  undo(id: number): void {
    const notice = this.#find(id);
    if (notice?.state !== "waiting") return;
    this.#change(id, { state: "undone", leftMs: SHOWN_MS });
    notice.onBack(notice.keys);
  }

  close(id: number): void {
    const state = this.#find(id)?.state;
    if (state !== "waiting" && state !== "sending")
      this.#set(this.#notices.filter((one) => one.id !== id));
  }

  /** Sends one decision now, or again after a failure. */
  async send(id: number, isLeaving = false): Promise<void> {
    const notice = this.#find(id);
    if (notice === undefined || !["waiting", "failed"].includes(notice.state)) return;
    this.#change(id, { state: "sending", sent: 0, error: undefined });
    const onSent = (count: number): void => this.#change(id, { sent: count });
    const sent = await notice
      .send(notice.keys, { isLeaving, onSent })
      .catch((error: unknown): Sent => ({ done: [], skipped: [], left: notice.keys, error }));
    const hasFailed = sent.error !== undefined;
    this.#change(id, {
      state: hasFailed ? "failed" : "done",
      leftMs: SHOWN_MS,
      done: [...notice.done, ...sent.done],
      skipped: [...notice.skipped, ...sent.skipped],
      error: sent.error,
      ...(hasFailed ? { keys: sent.left } : {}),
    });
    if (hasFailed) notice.onBack(sent.left);
    this.#bound();
    this.#run();
  }

  /** Sends everything that waits. False if something failed, so that whoever wants to leave stays and reads it. */
  async settle(): Promise<boolean> {
    const ids = this.#notices.filter(({ state }) => state === "waiting").map(({ id }) => id);
    await Promise.all(ids.map(async (id) => await this.send(id)));
    return ids.every((id) => this.#find(id)?.state !== "failed");
  }

  /** The page goes: what waits is sent in this moment. */
  leave(): void {
    for (const { id, state } of this.#notices) if (state === "waiting") void this.send(id, true);
  }

  /** Whether leaving now would lose a part, so that the browser must ask. */
  mayLose(): boolean {
    const waiting = this.#notices.filter(({ state }) => state === "waiting");
    const rows = waiting.reduce((sum, { keys }) => sum + keys.length, 0);
    return rows > LEAVING_MAX || this.#notices.some(({ state }) => state === "sending");
  }

  #find(id: number): Notice | undefined {
    return this.#notices.find((one) => one.id === id);
  }

  #change(id: number, change: Partial<Notice>): void {
    this.#set(this.#notices.map((one) => (one.id === id ? { ...one, ...change } : one)));
  }

  #set(notices: readonly Notice[]): void {
    this.#notices = notices;
    for (const listener of this.#listeners) listener();
  }

  #bound(): void {
    const more = this.#notices.length - NOTICES_MAX;
    if (more <= 0) return;
    const over = this.#notices.filter(isFinished).slice(0, more);
    this.#set(this.#notices.filter((one) => !over.includes(one)));
    const waiting = this.#notices.filter(({ state }) => state === "waiting");
    for (const { id } of waiting.slice(0, more - over.length)) void this.send(id);
  }

  #run(): void {
    if (this.#timer !== undefined) return;
    this.#tickedMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const nowMs = performance.now();
    const passedMs = this.#isHeld() ? 0 : nowMs - this.#tickedMs;
    this.#tickedMs = nowMs;
    const isTimed = (one: Notice): boolean => one.state === "waiting" || isFinished(one);
    if (!this.#notices.some(isTimed)) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else if (passedMs > 0) this.#pass(passedMs, isTimed);
  }

  #pass(passedMs: number, isTimed: (one: Notice) => boolean): void {
    const aged = this.#notices.map((one) =>
      isTimed(one) ? { ...one, leftMs: one.leftMs - passedMs } : one,
    );
    this.#set(aged.filter((one) => !isFinished(one) || one.leftMs > 0));
    for (const { id, state, leftMs } of aged)
      if (state === "waiting" && leftMs <= 0) void this.send(id);
  }
}

/** Whether a notice goes by itself. One that names rows which were not changed stays until somebody closes it. */
function isFinished({ state, skipped }: Notice): boolean {
  return state === "undone" || (state === "done" && skipped.length === 0);
}
