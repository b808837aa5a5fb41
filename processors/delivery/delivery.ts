import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A row of `delivery` that this process may send now, and nobody else until its lease ends. */
export type LeasedDelivery = {
  readonly id: string;
  readonly kind: DeliveryKindName;
  /** Of the kind's own table. */
  readonly endpoint_id: number;
  /** Host and port: its endpoints share the slots of the host. */
  readonly destination: string;
  readonly conversion_id: string | null;
  /** Of postbacks. */
  readonly trigger: string;
  /** As the transaction of the change wrote them; the kind knows their form. */
  readonly facts: unknown;
  /** This attempt counted, from 1. */
  readonly attempts: number;
  readonly lease_token: string;
  readonly created_at: string;
};

export const DELIVERY_KINDS = ["postback", "webhook"] as const;
export type DeliveryKindName = (typeof DELIVERY_KINDS)[number];

/** A request to an address that a customer named; see processors/outgoing. */
export type DeliveryRequest = {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** What a row becomes right before it is sent. */
export type Prepared =
  | { readonly kind: "send"; readonly request: DeliveryRequest }
  | {
      readonly kind: "refused";
      /** As the delivery log has it. */
      readonly error: string;
      readonly url?: string;
      /** Counts for disabling it (G126). */
      readonly isEndpointsFault: boolean;
    };

/** What differs between postbacks and webhooks. Queue, leases, slots, schedule, sending and log are the same for all. */
export type DeliveryKind = {
  readonly name: DeliveryKindName;
  /** The waits between attempts, in milliseconds: one attempt more than there are waits (G126). */
  readonly waitsMs: readonly number[];
  /** At each of them the address is looked at anew. */
  readonly redirectsMax: number;
  /** Whether an answer of this status ends the delivery at once as failed. */
  isRefusal(status: number): boolean;
  /** Requests from rows, by the id of the row; a row without one is refused as its endpoint is gone. May throw an outage. */
  prepare(
    db: Queryable,
    deliveries: readonly LeasedDelivery[],
  ): Promise<ReadonlyMap<string, Prepared>>;
};

/** What came of one request; an expected failure is a value. */
export type Attempt =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly statusText: string;
      readonly body: string;
      /** As it came; "" for none. */
      readonly retryAfter: string;
    }
  | { readonly kind: "failed"; readonly error: string; readonly isPermanent: boolean };

/** How a request leaves the service. */
export type Outgoing = {
  attempt(
    request: DeliveryRequest & {
      readonly redirectsMax: number;
      readonly timeoutMs: number;
      /** The endpoint: no request waits for another endpoint's connections. */
      readonly connectionsOf: string;
    },
  ): Promise<Attempt>;
};
