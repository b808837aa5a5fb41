/** What has header lines, some of them with the same name. */
export type HeaderLines = {
  /** Lower-case names, in the order in which they came. */
  forEach(each: (name: string, value: string) => void): void;
};

/**
 * All lines of X-Forwarded-For as one chain, in order (RFC 9110 5.3). Some proxies write a line of their own behind the one
 * that the visitor sent: whoever reads only the first believes the visitor (P33).
 */
export function forwardedFor(request: HeaderLines): string {
  let chain: string | undefined;
  request.forEach((name, value) => {
    if (name === "x-forwarded-for") chain = chain === undefined ? value : `${chain},${value}`;
  });
  return chain ?? "";
}
