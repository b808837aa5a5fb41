/**
 * The request that caused a message or a change. It goes along in the headers of NATS messages, and with a change into its deliveries,
 * so that one ID leads from the edge to the receiver.
 */
export type Cause = {
  readonly request_id: string;
  /** W3C Trace Context of the request; only with tracing. */
  readonly traceparent?: string | undefined;
};

/** What a change of a conversion stores: the request, if it is known, and the person who asked for it through a session. */
export type CauseOfChange = Partial<Cause> & { readonly person_id?: number | undefined };
