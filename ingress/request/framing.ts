/** What of a request says where its body ends. */
export type FramedRequest = {
  /** Lower-case name; the first value, "" when there is none. */
  getHeader(name: string): string;
  forEach(each: (name: string, value: string) => void): void;
};

/** `ambiguous`: two readers could disagree about where the request ends · `length_required`: chunks where none are taken. */
export type FramingFault = "ambiguous" | "length_required";

export type FramingRules = {
  /** Only a method that has a body is looked at closely: the look costs a microsecond. */
  readonly mayHaveBody: boolean;
  readonly mayBeChunked: boolean;
};

/**
 * Whether the length of a request can be read in one way only (RFC 9112 6.3). The parser below takes the first of several
 * Content-Length and every Transfer-Encoding that ends in `chunked`: a proxy that reads them differently would let one visitor
 * write the request of another (P28).
 */
export function framingFault(
  request: FramedRequest,
  { mayHaveBody, mayBeChunked }: FramingRules,
): FramingFault | undefined {
  const encoding = request.getHeader("transfer-encoding");
  const length = request.getHeader("content-length");
  if (encoding === "" && length === "" && !mayHaveBody) return undefined;
  let lengths = 0;
  let encodings = 0;
  let hasEmpty = false;
  request.forEach((name, value) => {
    if (name !== "content-length" && name !== "transfer-encoding") return;
    if (name === "content-length") lengths += 1;
    else encodings += 1;
    hasEmpty ||= value === "";
  });
  if (hasEmpty || lengths + encodings > 1) return "ambiguous";
  if (encodings === 0) return undefined;
  if (encoding.toLowerCase() !== "chunked") return "ambiguous";
  return mayBeChunked ? undefined : "length_required";
}
