import { randomUUID } from "node:crypto";
import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { isPublicAddress } from "../../../schemas/net/public-address.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { UsageError } from "../command-error.ts";
import type { Servers } from "../servers.ts";
import type { ReportLine } from "./report-line.ts";

const ANSWER_WAIT_MS = 10_000;
const STORED_WAIT_MS = 20_000;
const LOOK_MS = 250;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const Stored = z.object({ ip: z.string(), domain: z.string() });

/** Sends a click to the tracking link `url` as a visitor would, and reports what was stored of it. */
export async function edgeLines(url: string, servers: Servers): Promise<ReportLine[]> {
  if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address.`);
  const link = new URL(url);
  const mark = `doctor-${randomUUID()}`;
  link.searchParams.set("sub10", mark);
  const answered = await answerLine(link);
  if (answered.state !== "ok") return [answered];
  return [answered, ...(await storedLines(link, mark, servers))];
}

async function answerLine(link: URL): Promise<ReportLine> {
  const beforeMs = systemClock.nowMs();
  const subject = "edge";
  try {
    const answer = await fetch(link, {
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WAIT_MS),
    });
    await answer.body?.cancel();
    const took = `${link.host} answered ${answer.status} within ${systemClock.nowMs() - beforeMs} ms`;
    if (REDIRECTS.has(answer.status)) return { state: "ok", subject, text: took };
    const remedy =
      "give --url a tracking link that redirects, and look at the proxy before the ingress";
    return { state: "refuse", subject, text: `${took}: ${remedy}.` };
  } catch (error) {
    const fault = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = `${link.host} did not answer (${String(fault)}): look at DNS, certificate and proxy.`;
    return { state: "refuse", subject, text };
  }
}

async function storedLines(link: URL, mark: string, servers: Servers): Promise<ReportLine[]> {
  const subject = "edge";
  const stored = await untilStored(mark, servers);
  if (stored === undefined) {
    const text = `the click is not in ClickHouse after ${STORED_WAIT_MS / 1_000} s: see whether a process with the role clicks runs, and whether --url leads to this installation.`;
    return [{ state: "refuse", subject, text }];
  }
  const lines: ReportLine[] = [addressLine(stored.ip)];
  if (stored.domain !== link.hostname) {
    const text = `the click was stored for the domain "${stored.domain}", not ${link.hostname}: let the proxy pass the Host header on.`;
    lines.push({ state: "warn", subject, text });
  }
  return lines;
}

/** A visitor has a public address. Any other is the proxy's, unless this command runs in the same network. */
function addressLine(ip: string): ReportLine {
  const subject = "client address";
  if (ip === "") {
    return { state: "ok", subject, text: "not stored, as the workspace wants it" };
  }
  if (isPublicAddress(ip)) return { state: "ok", subject, text: `stored as ${ip}` };
  const text = `stored as ${ip}, which no visitor has: set TRUSTED_PROXIES to the addresses of the proxy, which must set X-Forwarded-For, or run this command from outside.`;
  return { state: "warn", subject, text };
}

async function untilStored(
  mark: string,
  servers: Servers,
): Promise<z.infer<typeof Stored> | undefined> {
  const clickhouse = openClickhouse({ ...servers.clickhouse, applicationName: "tracker doctor" });
  const endMs = systemClock.nowMs() + STORED_WAIT_MS;
  const never = new AbortController();
  try {
    while (systemClock.nowMs() < endMs) {
      const text = `select ip, domain from ${allShards(clickhouse, "click")} where ts > now() - interval 1 hour and sub10 = {mark: String}`;
      const statement = { name: "doctor.click", text, params: { mark }, timeoutMs: 5_000 };
      const [row] = await selectRows(clickhouse, statement, Stored);
      if (row !== undefined) return row;
      await pause(LOOK_MS, never.signal);
    }
    return undefined;
  } finally {
    await clickhouse.close();
  }
}
