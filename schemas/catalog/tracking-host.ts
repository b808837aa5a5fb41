/**
 * The canonical spelling of the host of a Host header or a tracking domain: lower case, no dot at the end of the name, no port
 * 80 or 443. The SQL function `tracking_host_key` does the same.
 */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  // Runs for every click. A usual host ends with a letter, so it has no port and no dot at its end.
  const last = lower.charCodeAt(lower.length - 1);
  if (last >= 0x61 && last <= 0x7a) return lower;
  const bare = withoutEnd(withoutEnd(lower, ":80"), ":443");
  return bare.includes(".:") ? bare.replace(".:", ":") : withoutEnd(bare, ".");
}

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}
