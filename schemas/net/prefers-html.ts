const HTML = "text/html";
const JSON_TYPE = "application/json";
/** Characters of the header. Browsers send a tenth of it. */
const LOOKED_AT_MAX = 1_000;

/**
 * Whether a client asks for a page rather than for data: browsers name text/html when they follow a link, programs do not. A wildcard asks
 * for neither.
 */
export function prefersHtml(accept: string): boolean {
  return (qualityOf(accept, HTML) ?? 0) > (qualityOf(accept, JSON_TYPE) ?? 0);
}

/** Whether a client names JSON, and no page that it would rather have. */
export function prefersJson(accept: string): boolean {
  const quality = qualityOf(accept, JSON_TYPE) ?? 0;
  return quality > 0 && quality >= (qualityOf(accept, HTML) ?? 0);
}

/** Whether a client takes a page. Monitors send a wildcard, or no header at all. */
export function acceptsHtml(accept: string): boolean {
  if (accept.trim() === "") return true;
  const quality =
    qualityOf(accept, HTML) ?? qualityOf(accept, "text/*") ?? qualityOf(accept, "*/*");
  return (quality ?? 0) > 0;
}

/** Undefined for a type that is not named. */
function qualityOf(accept: string, type: string): number | undefined {
  for (const range of accept.slice(0, LOOKED_AT_MAX).split(",")) {
    const [name = "", ...parameters] = range.split(";");
    if (name.trim().toLowerCase() !== type) continue;
    const quality = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter));
    return quality === undefined ? 1 : Number(quality.split("=")[1]) || 0;
  }
  return undefined;
}
