/** Every subject of an installation. */
export type Subjects = {
  /** JetStream: batches of one lane (`ClickBatch`). */
  readonly clicks: (lane: number) => string;
  readonly allClicks: string;
  /** Core: `Watermarks` of the writers, once a second and after each flush. */
  readonly watermark: string;
  /** Core, without a body: a writer was queried and needs the positions of idle producers. */
  readonly clickPositionRequest: (lane: number) => string;
  readonly allClickPositionRequests: string;
  /** Core request to the owner of a shard: `ClickQuery` → `ClickAnswer`. */
  readonly clickQuery: (shard: number) => string;
  readonly allClickQueries: string;
  /** Core request to the conversion processors (queue group): `PostbackRequest` → `PostbackReply`. */
  readonly postback: string;
  /** Core request from the api to the conversion processors: `ConversionCommand` → `ConversionCommandReply`. */
  readonly conversionCommand: string;
  /** Core request to the conversion processors (queue group): `ClickLookup` → `ClickLookupReply`. */
  readonly clickLookup: string;
  /** Core request to the conversion processors (queue group): `InboundCalls` → `InboundReply`. */
  readonly inboundCalls: string;
  /** Core request to the delivery processors (queue group): `HtmlPostbacksRequest` → `HtmlPostbacks`. */
  readonly htmlPostbacks: string;
  /** Core request to an ingress process (queue group), with an empty body: → `CouponClickTaker`. */
  readonly couponClickTaker: string;
  /** Core: `CouponClickOrder` to the ingress with this producer number. */
  readonly couponClick: (producer: number) => string;
  readonly allCouponClicks: string;
  /** Core: `ClickTotals` of the writers. */
  readonly clickTotals: string;
  /** Core: `ClicksTaken` of one ingress process, or writer, named by `from`. */
  readonly clicksTaken: (from: string) => string;
  readonly allClicksTaken: string;
  /** Core: `CapsReached` of the conversion processors. */
  readonly capsReached: string;
  /** Core, without a body: an ingress that knows nothing yet asks for all of these at once. */
  readonly clickNoticesRequest: string;
  /** Core request to all processes with the same incarnation that use another Postgres: `TwinQuestion` → `TwinAnswer`. */
  readonly twinQuestion: string;
  /** Core request to every process, with an empty body: → the facts of its `/status` as JSON. */
  readonly processStatus: string;
};

/**
 * The subjects under a prefix (NATS_PREFIX), which lets several installations share one server; tests do. The prefix is words
 * joined by dots, or "".
 */
export function subjectsOf(prefix: string): Subjects {
  const at = (name: string): string => (prefix === "" ? name : `${prefix}.${name}`);
  return {
    clicks: (lane) => at(`clicks.${lane}`),
    allClicks: at("clicks.*"),
    watermark: at("click-watermark"),
    clickPositionRequest: (lane) => at(`click-word-wanted.${lane}`),
    allClickPositionRequests: at("click-word-wanted.*"),
    allClickQueries: at("click-query.*"),
    allCouponClicks: at("coupon-click.*"),
    clickQuery: (shard) => at(`click-query.${shard}`),
    postback: at("postback"),
    conversionCommand: at("conversion-command"),
    clickTotals: at("click-totals"),
    clicksTaken: (from) => at(`clicks-taken.${from}`),
    allClicksTaken: at("clicks-taken.*"),
    capsReached: at("caps-reached"),
    clickNoticesRequest: at("click-notices-wanted"),
    twinQuestion: at("installation-twin-wanted"),
    processStatus: at("process-status"),
    clickLookup: at("click-lookup"),
    inboundCalls: at("inbound-calls"),
    htmlPostbacks: at("html-postbacks"),
    couponClickTaker: at("coupon-click-taker"),
    couponClick: (producer) => at(`coupon-click.${producer}`),
  };
}
