/** Every subject of an installation. */
export type Subjects = {
  /** JetStream: batches of one lane (`ClickBatch`). */
  readonly clicks: (lane: number) => string;
  readonly allClicks: string;
  /** Core: `Watermarks` of the writers, once a second and after each flush. */
  readonly watermark: string;
  /** Core request to the owner of a shard: `ClickQuery` → `ClickAnswer`. */
  readonly clickQuery: (shard: number) => string;
  /** Core request to the conversion processors (queue group): `PostbackRequest` → `PostbackReply`. */
  readonly postback: string;
  /** Core request from the api to the conversion processors: `ConversionCommand` → `ConversionCommandReply`. */
  readonly conversionCommand: string;
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
    clickQuery: (shard) => at(`click-query.${shard}`),
    postback: at("postback"),
    conversionCommand: at("conversion-command"),
  };
}
