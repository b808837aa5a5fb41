import type { BenchVisitor } from "./visitors.ts";

/** A browser at an address that the geo and network tables know. */
export const ONE_VISITOR: BenchVisitor = {
  ip: "83.149.9.216",
  userAgent:
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  referrer: "https://www.example.org/some/page",
};

/** The headers of a visitor behind a trusted proxy. */
export function headersOf({ ip, userAgent, referrer }: BenchVisitor): Record<string, string> {
  return {
    ...(userAgent === "" ? {} : { "User-Agent": userAgent }),
    "X-Forwarded-For": ip,
    ...(referrer === "" ? {} : { Referer: referrer }),
    "Accept-Language": "en-US,en;q=0.9",
  };
}

/** The nth click on a link: other values, an ad ID of its own. */
export function clickPath(path: string, n: number): string {
  return `${path}?sub1=bench&sub2=${n}&source_id=a1&gclid=abc${n}`;
}

/** A whole request, as it is sent. */
export function requestText(path: string, visitor: BenchVisitor): string {
  const lines = Object.entries({ Host: "127.0.0.1", ...headersOf(visitor) });
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
