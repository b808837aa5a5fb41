/** One call of the service. The ledger of a day has every click, and every call with its answer; nothing is read from the service. */
export type Action =
  | {
      readonly kind: "report";
      readonly by: "workspace" | "advertiser" | "pixel" | "script";
      readonly params: Readonly<Record<string, string>>;
      /** Sent from an address on the advertiser's allow-list. */
      readonly isListed: boolean;
    }
  | { readonly kind: "create"; readonly body: Readonly<Record<string, string | number>> }
  | {
      readonly kind: "patch";
      readonly ids: readonly string[];
      readonly isBulk: boolean;
      readonly status: string;
      /** Empty for no reason. */
      readonly reason: string;
    };

export type Answer = {
  readonly http: number;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Entry = {
  /** Number of the call within the day. */
  readonly number: number;
  /** Index of the offer in the list of shops. Entries of one shop were sent one after another. */
  readonly shop: number;
  readonly action: Action;
  readonly answer: Answer;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** Attempts before this answer whose outcome is unknown. */
  readonly lost: number;
};

export type Click = {
  readonly id: string;
  readonly shop: number;
  /** Index of the partner in the list of partners. */
  readonly partner: number;
  readonly ip: string;
  readonly isBot: boolean;
  /** UTC date of the answer, such as 2026-11-20. */
  readonly day: string;
};

export type Ledger = { readonly clicks: readonly Click[]; readonly entries: readonly Entry[] };
