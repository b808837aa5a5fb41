/**
 * Whether a client asks for a page rather than for data: browsers name text/html when they follow a link, programs do not. A wildcard asks
 * for neither.
 */
export function prefersHtml(accept: string): boolean {
  if (!accept.includes("text/html")) return false;
  return qualityOf(accept, "text/html") > qualityOf(accept, "application/json");
}

/** 0 for a type that is not named. */
function qualityOf(accept: string, type: string): number {
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = range.split(";");
    if (name.trim().toLowerCase() !== type) continue;
    const quality = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter));
    return quality === undefined ? 1 : Number(quality.split("=")[1]) || 0;
  }
  return 0;
}
