export type SpanName =
  | "ingress.redirect"
  | "ingress.postback"
  | "conversions.report"
  | "conversions.command"
  | "postgres.record"
  | "delivery.attempt"
  | "api.request"
  | "clickhouse.report";

/**
 * Everything that a span can say about its work. Values are words and numbers of ours. Addresses, URLs, names, parameters and secrets have no
 * field here, so no span can contain one (P31).
 */
export type SpanFacts = {
  readonly request_id?: string | undefined;
  /** A pattern of ours, such as `/r/:offer/:affiliate`. */
  readonly route?: string | undefined;
  readonly method?: string | undefined;
  /** Of the HTTP answer. */
  readonly status?: number | undefined;
  readonly endpoint?: "pb" | "px" | undefined;
  readonly result?: string | undefined;
  /** Name of an API operation. */
  readonly operation?: string | undefined;
  /** Name of a ClickHouse statement, as in its query log. */
  readonly statement?: string | undefined;
  readonly delivery_kind?: "postback" | "webhook" | undefined;
  readonly attempt?: number | undefined;
};

export type OpenSpan = {
  /** W3C Trace Context, for everything that this work causes. */
  readonly traceparent: string;
  /** `isFailed`: our side could not do the work. A refusal is no failure. */
  end(facts?: SpanFacts, how?: { readonly isFailed?: boolean; readonly atMs?: number }): void;
};

/** Makes spans, which are sent in the background. No method throws or waits. */
export type Tracing = {
  /** `parent`: the traceparent of the cause; without a valid one a trace begins. `atMs` by `performance.now()`, by default now. */
  start(
    name: SpanName,
    from: {
      readonly parent?: string | null | undefined;
      readonly atMs?: number;
      readonly facts: SpanFacts;
    },
  ): OpenSpan;
};
