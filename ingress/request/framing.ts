import type { RequestHead } from "./request-head.ts";

/** `ambiguous`: two parsers could disagree about where the request ends · `length_required`: chunks on a path that accepts none. */
export type FramingFault = "ambiguous" | "length_required";

/**
 * Checks that the length of a request can be read in one way only (RFC 9112 6.3). The server's parser takes the first of several
 * Content-Length headers, and every Transfer-Encoding that ends in `chunked`. A proxy that reads them differently would let one
 * visitor write the request of another (P28).
 */
export function framingFault(head: RequestHead, mayBeChunked: boolean): FramingFault | undefined {
  const { contentLengths, transferEncodings, transferEncoding } = head;
  if (head.hasEmptyFraming || contentLengths + transferEncodings > 1) return "ambiguous";
  if (transferEncodings === 0) return undefined;
  if (transferEncoding.toLowerCase() !== "chunked") return "ambiguous";
  return mayBeChunked ? undefined : "length_required";
}
