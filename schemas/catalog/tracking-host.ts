/**
 * The one spelling of the host that a Host header or a tracking domain names: lower case, no dot at the end of the name, no port
 * 80 or 443. The SQL function `tracking_host_key` says the same.
 */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  // Every click asks: the usual name ends with a letter, and has neither a port nor a dot there.
  const last = lower.charCodeAt(lower.length - 1);
  if (last >= 0x61 && last <= 0x7a) return lower;
  const bare = withoutEnd(withoutEnd(lower, ":80"), ":443");
  return bare.includes(".:") ? bare.replace(".:", ":") : withoutEnd(bare, ".");
}

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}
