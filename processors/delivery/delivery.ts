import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A row of `delivery` that only this process may send, until its lease ends. */
export type LeasedDelivery = {
  readonly id: string;
  readonly kind: DeliveryKindName;
  /** Id in the table of its kind. */
  readonly endpoint_id: number;
  /** Host and port: endpoints with the same destination share its slots. */
  readonly destination: string;
  readonly conversion_id: string | null;
  /** Postbacks only. */
  readonly trigger: string;
  /** As the transaction of the change wrote them; each kind parses its own. */
  readonly facts: unknown;
  /** Number of this attempt, from 1. */
  readonly attempts: number;
  readonly lease_token: string;
  readonly created_at: string;
  /** Of the request that caused the change; null if none did. */
  readonly request_id: string | null;
  readonly traceparent: string | null;
};

export const DELIVERY_KINDS = ["postback", "webhook"] as const;
export type DeliveryKindName = (typeof DELIVERY_KINDS)[number];

/** Names the request that caused a delivery, so that a receiver can ask its operator about it. Not part of a webhook's signature. */
export function requestHeader({
  request_id,
}: Pick<LeasedDelivery, "request_id">): Readonly<Record<string, string>> {
  return request_id === null ? {} : { "x-tracker-request": request_id };
}

/** A request to a URL that a customer named; see schemas/outgoing. */
export type DeliveryRequest = {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** A row that is ready to send, or the reason why it is not sent. */
export type Prepared =
  | { readonly kind: "send"; readonly request: DeliveryRequest }
  | {
      readonly kind: "refused";
      /** As shown in the delivery log. */
      readonly error: string;
      readonly url?: string;
      /** Whether it counts towards disabling the endpoint (G126). */
      readonly isEndpointsFault: boolean;
    };

/** The differences between postbacks and webhooks. Queue, leases, slots, schedule, sending and log are shared. */
export type DeliveryKind = {
  readonly name: DeliveryKindName;
  /** The waits between attempts, in milliseconds. There is one more attempt than there are waits (G126). */
  readonly waitsMs: readonly number[];
  /** Each redirect is checked like a new address. */
  readonly redirectsMax: number;
  /** Whether an answer with this status ends the delivery as failed. */
  isRefusal(status: number): boolean;
  /** Requests by the id of their row. A row without one is refused because its endpoint is gone. May throw an outage. */
  prepare(
    db: Queryable,
    deliveries: readonly LeasedDelivery[],
  ): Promise<ReadonlyMap<string, Prepared>>;
};

/** The result of one request; an expected failure is a value. */
export type Attempt =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly statusText: string;
      readonly body: string;
      /** As received; "" for none. */
      readonly retryAfter: string;
    }
  | { readonly kind: "failed"; readonly error: string; readonly isPermanent: boolean };

/** How a request leaves the service. */
export type Outgoing = {
  attempt(
    request: DeliveryRequest & {
      readonly redirectsMax: number;
      readonly timeoutMs: number;
      /** Identifies the endpoint. Each endpoint has its own connections, so a request never waits for another endpoint's. */
      readonly connectionsOf: string;
    },
  ): Promise<Attempt>;
};
