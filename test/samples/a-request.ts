import type { RawRequest } from "../../ingress/route.ts";
import { DESKTOP_CHROME } from "./user-agents.ts";

type RequestParts = Partial<Omit<RawRequest, "headers">> & {
  readonly headers?: Partial<RawRequest["headers"]>;
};

/** A desktop browser that requests `/` of `trk.example` from an address in no geo database. */
export function aRequest(parts: RequestParts = {}): RawRequest {
  return {
    method: "GET",
    path: "/",
    query: "",
    peerIp: "192.0.2.1",
    requestId: "aRequest-0001",
    ...parts,
    headers: {
      host: "trk.example",
      userAgent: DESKTOP_CHROME,
      referer: "",
      accept: "*/*",
      acceptLanguage: "en-US,en;q=0.9",
      xForwardedFor: "",
      xForwardedProto: "",
      via: "",
      cookie: "",
      contentType: "",
      origin: "",
      ifNoneMatch: "",
      idempotencyKey: "",
      xRequestId: "",
      purpose: "",
      secFetchDest: "",
      ...parts.headers,
    },
  };
}

/** The same request for a target such as `/r/SHOP/ABC123?sub1=x`. */
export function aRequestFor(target: string, parts: RequestParts = {}): RawRequest {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  return aRequest({ path, query: mark < 0 ? "" : target.slice(mark + 1), ...parts });
}
