/**
 * The request that caused a message or a change. It goes along in the headers of NATS messages, and with a change into its deliveries,
 * so that one ID leads from the edge to the receiver.
 */
export type Cause = {
  readonly request_id: string;
  /** W3C Trace Context of the request; only with tracing. */
  readonly traceparent?: string | undefined;
};
