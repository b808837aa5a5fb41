import { hash } from "node:crypto";
import { canonicalHost } from "../../schemas/catalog/tracking-host.ts";
import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { RawRequest } from "../route.ts";
import { clientOf, isHttps } from "./client-ip.ts";
import { type Device, type DeviceReader, USER_AGENT_LENGTH_MAX } from "./device.ts";
import type { GeoFacts, GeoReader } from "./geo.ts";

const REFERRER_LENGTH_MAX = 1_024;
const LANGUAGE_LENGTH_MAX = 35;
const HOST_LENGTH_MAX = 255;
/** 13 hex digits are 52 bits: the most that a JSON number holds exactly. */
const VISITOR_DIGITS = 13;

/** Everything about a request that does not depend on the link: the visitor, their device and where they came from. */
export type Visit = {
  /** Normal form; "" when the server does not know it. */
  readonly ip: string;
  /** The same for the same address and user agent within an installation (G87). */
  readonly visitor: number;
  readonly userAgent: string;
  readonly device: Device;
  readonly geo: GeoFacts;
  /** A crawler, no user agent at all, or a request whose answer nobody sees (G144, G240). */
  readonly isBot: boolean;
  /** The request came through a proxy that names itself. */
  readonly isProxy: boolean;
  readonly referrer: string;
  readonly referrerHost: string;
  /** First language of Accept-Language, lower case: `en-us`. */
  readonly language: string;
  /** Tracking host, lower case, without a dot at its end and without the port 80 or 443. */
  readonly domain: string;
  readonly isHttps: boolean;
};

export type VisitReaders = {
  readonly trustedProxies: TrustedProxies;
  readonly devices: DeviceReader;
  readonly geo: GeoReader;
};

/** `secret` keys the visitor hash, so that an address cannot be found by trying all addresses. */
export function readVisit(request: RawRequest, readers: VisitReaders, secret: string): Visit {
  const { headers } = request;
  const client = clientOf(request, readers.trustedProxies);
  const userAgent = cutTo(headers.userAgent, USER_AGENT_LENGTH_MAX);
  const device = readers.devices.read(userAgent);
  return {
    ip: client.ip,
    visitor: visitorOf(secret, client.ip, userAgent),
    userAgent,
    device,
    geo: readers.geo.locate(client.ip),
    isBot: device.isBot || request.method === "HEAD",
    isProxy: client.isForwarded || headers.via !== "",
    referrer: cutTo(headers.referer, REFERRER_LENGTH_MAX),
    referrerHost: hostOfUrl(headers.referer),
    language: firstLanguage(headers.acceptLanguage),
    domain: trackingHostOf(headers.host),
    isHttps: isHttps(request, readers.trustedProxies),
  };
}

/** Whether nobody sees the answer, although a person's browser asked. A crawler sees what it gets. */
export function isUnseen({ isBot, device }: Pick<Visit, "isBot" | "device">): boolean {
  return isBot && !device.isBot;
}

/** Reads a visit that an advertiser's server reports. The headers of its request say nothing about the visitor. */
export function readReportedVisit(
  request: RawRequest,
  readers: VisitReaders,
  reported: { readonly secret: string; readonly ip: string; readonly userAgent: string },
): Visit {
  const { headers } = request;
  const ip = reported.ip === "" ? clientOf(request, readers.trustedProxies).ip : reported.ip;
  const given = reported.userAgent === "" ? headers.userAgent : reported.userAgent;
  const userAgent = cutTo(given, USER_AGENT_LENGTH_MAX);
  const device = readers.devices.read(userAgent);
  return {
    ip,
    visitor: visitorOf(reported.secret, ip, userAgent),
    userAgent,
    device,
    geo: readers.geo.locate(ip),
    isBot: device.isBot,
    isProxy: false,
    referrer: "",
    referrerHost: "",
    language: "",
    domain: trackingHostOf(headers.host),
    isHttps: false,
  };
}

function visitorOf(secret: string, ip: string, userAgent: string): number {
  const digest = hash("sha256", `${secret}|${ip}|${userAgent}`, "hex");
  return Number.parseInt(digest.slice(0, VISITOR_DIGITS), 16);
}

/** The tracking host that a Host header names. It is cut, because anybody may send any text. */
export function trackingHostOf(header: string): string {
  return canonicalHost(cutTo(header, HOST_LENGTH_MAX));
}

/** Host of an http(s) URL, without port; "" for anything else. The URL is an untrusted header. */
function hostOfUrl(url: string): string {
  const scheme = url.indexOf("://");
  if (scheme < 4 || scheme > 5) return "";
  let end = scheme + 3;
  const endMax = Math.min(url.length, end + HOST_LENGTH_MAX);
  while (end < endMax && isHostCode(url.charCodeAt(end))) end += 1;
  return url.slice(scheme + 3, end).toLowerCase();
}

function isHostCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x2e ||
    code === 0x2d ||
    code === 0x5f
  );
}

function firstLanguage(header: string): string {
  let end = 0;
  const endMax = Math.min(header.length, LANGUAGE_LENGTH_MAX);
  while (end < endMax && isLanguageCode(header.charCodeAt(end))) end += 1;
  return header.slice(0, end).toLowerCase();
}

function isLanguageCode(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function cutTo(text: string, lengthMax: number): string {
  return text.length > lengthMax ? text.slice(0, lengthMax) : text;
}
