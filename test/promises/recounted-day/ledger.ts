/** One call of the service. The ledger of a day holds only calls and their answers. */
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
  readonly partner: number;
  readonly ip: string;
  readonly isBot: boolean;
  readonly day: string;
};

export type Ledger = { readonly clicks: readonly Click[]; readonly entries: readonly Entry[] };
