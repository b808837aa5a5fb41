/** Where a conversion is reported, and what it is reported for. */
export type SnippetTarget = {
  /** Origin of the tracking domain, such as `https://track.example`. */
  readonly origin: string;
  readonly token: string;
  readonly offerCode: string;
  /** The default event needs no name. */
  readonly eventCode: string;
  /** A percentage of the sale needs the amount. */
  readonly hasAmount: boolean;
  readonly currency: string;
  /** Name of the parameter in which the landing page gets the click ID. Undefined if the destination does not pass it. */
  readonly clickParameter: string | undefined;
};

const DEFAULT_EVENT = "default";
/** Names that the script finds by itself. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(["click_id", "transaction_id", "tid"]);

/** The address that the advertiser's server calls. Words in capitals stand for what the shop fills in. */
export function postbackAddress(target: SnippetTarget): string {
  return `${target.origin}/pb?${parameters({ token: target.token, click_id: "CLICK_ID", ...valuesOf(target) })}`;
}

/** An image for the page after the sale. */
export function pixelMarkup(target: SnippetTarget): string {
  const address = `${target.origin}/px?${parameters({ click_id: "CLICK_ID", ...valuesOf(target) })}`;
  return `<img src="${address.replaceAll("&", "&amp;")}" width="1" height="1" alt="">`;
}

/** The script for the landing page and the page after the sale. */
export function scriptMarkup(target: SnippetTarget): string {
  const { origin, offerCode, clickParameter } = target;
  const parameter =
    clickParameter === undefined || KNOWN_PARAMETERS.has(clickParameter)
      ? ""
      : ` data-param="${attribute(clickParameter)}"`;
  return `<script src="${origin}/sdk.js" data-offer="${attribute(offerCode)}"${parameter}></script>`;
}

/** The call on the page after the sale. */
export function scriptCall(target: SnippetTarget): string {
  const values = Object.entries(valuesOf(target)).map(
    ([name, value]) => `${name}: ${JSON.stringify(value).replaceAll("<", "\\u003c")}`,
  );
  return `<script>\n  Tracker.conversion({ ${values.join(", ")} });\n</script>`;
}

function valuesOf({
  eventCode,
  hasAmount,
  currency,
}: SnippetTarget): Readonly<Record<string, string>> {
  return {
    ...(eventCode === DEFAULT_EVENT ? {} : { event: eventCode }),
    txid: "ORDER_ID",
    ...(hasAmount ? { amount: "AMOUNT", currency } : {}),
  };
}

function parameters(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(values).toString();
}

function attribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** The parameter of a destination in which the landing page gets the click ID, such as `cid` of `https://shop.example/?cid={click_id}`. */
export function clickParameterIn(destination: string | undefined): string | undefined {
  return /[?&#]([^=&#?]+)=\{(?:click_id|transaction_id)\}/.exec(destination ?? "")?.[1];
}
