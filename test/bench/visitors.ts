import { existsSync } from "node:fs";
import { projectFile } from "../../schemas/host/project-root.ts";
import { readLogLines } from "../replay/log-lines.ts";

/** What a browser sends besides the link. */
export type BenchVisitor = {
  readonly ip: string;
  readonly userAgent: string;
  readonly referrer: string;
};

const ADDRESSES_MADE = 10_000;
const USER_AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
];
/** 10,000 requests of 1,753 addresses; the sample in the repository has 400 of them. */
const SHARED_LOG = projectFile("..", "shared", "data", "web-access.log.gz");
const SAMPLE_LOG = projectFile("test", "samples", "access.log");
const LINES_MAX = 10_000;

/** Visitors of a real web site, in the order of their requests, crawlers among them. */
export async function realVisitors(): Promise<BenchVisitor[]> {
  const log = existsSync(SHARED_LOG) ? SHARED_LOG : SAMPLE_LOG;
  const { lines } = await readLogLines(log, LINES_MAX);
  return lines.map(({ ip, userAgent, referrer }) => ({ ip, userAgent, referrer }));
}

/** Visitors from all parts of the world, the same ones on each call. Every twentieth has an IPv6 address. */
export function madeUpVisitors(): BenchVisitor[] {
  return Array.from({ length: ADDRESSES_MADE }, (_, n) => ({
    ip: madeUpAddress(n),
    userAgent: USER_AGENTS[n % USER_AGENTS.length] ?? "",
    referrer: "https://www.example.org/some/page",
  }));
}

function madeUpAddress(n: number): string {
  const mixed = (n * 2_654_435_761) >>> 0;
  if (n % 20 === 0)
    return `2${(0x400 + (mixed % 0x600)).toString(16)}:${(mixed >>> 16).toString(16)}::1`;
  return `${1 + (mixed % 222)}.${(mixed >>> 8) % 256}.${(mixed >>> 16) % 256}.${mixed >>> 24}`;
}
