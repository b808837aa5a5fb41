/**
 * Every subject. An installation may put a prefix before all of them (NATS_PREFIX), so that several share one server;
 * tests do.
 */
export type Subjects = ReturnType<typeof subjectsOf>;

export function subjectsOf(prefix: string) {
  const at = (name: string): string => (prefix === "" ? name : `${prefix}.${name}`);
  return {
    /** JetStream: batches of one lane (`ClickBatch`). */
    clicks: (lane: number): string => at(`clicks.${lane}`),
    allClicks: at("clicks.*"),
    /** Core: `Watermarks` of the writers, once a second and after each flush. */
    watermark: at("click-watermark"),
    /** Core request to the owner of a shard: `ClickQuery` → `ClickAnswer`. */
    clickQuery: (shard: number): string => at(`click-query.${shard}`),
    /** Core request to the conversion processors (queue group): `PostbackRequest` → `PostbackReply`. */
    postback: at("postback"),
    /** Core request from the api to the conversion processors (queue group): `ConversionCommand` → `ConversionCommandReply`. */
    conversionCommand: at("conversion-command"),
    /** Core: what every ingress must know of clicks that others took (`ClickNotice`): reached caps, recent duplicates. */
    clickNotice: at("click-notice"),
    /** Core: a hint that the catalog has a new version; the feed polls anyway. */
    catalogChanged: at("catalog-changed"),
  };
}
