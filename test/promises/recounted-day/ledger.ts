/** What was asked; only this and the answers are kept of a day. */
export type Ask =
  | {
      readonly kind: "report";
      readonly by: "workspace" | "advertiser" | "pixel" | "script";
      readonly params: Readonly<Record<string, string>>;
      /** From an address on the advertiser's list. */
      readonly isListed: boolean;
    }
  | { readonly kind: "create"; readonly body: Readonly<Record<string, string | number>> }
  | {
      readonly kind: "patch";
      readonly ids: readonly string[];
      readonly isBulk: boolean;
      readonly status: string;
      /** Empty for none. */
      readonly reason: string;
    };

export type Answer = {
  readonly http: number;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Entry = {
  readonly number: number;
  /** Place of the offer in the list of shops: entries of one shop were sent one after another. */
  readonly shop: number;
  readonly ask: Ask;
  readonly answer: Answer;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** Attempts before this answer of which nobody knows whether they were carried out. */
  readonly lost: number;
};

export type Click = {
  readonly id: string;
  readonly shop: number;
  readonly partner: number;
  readonly ip: string;
  readonly isBot: boolean;
  readonly day: string;
};

export type Ledger = { readonly clicks: readonly Click[]; readonly entries: readonly Entry[] };
