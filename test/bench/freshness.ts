import { z } from "zod";
import { pause } from "../system/service.ts";
import { startSystem } from "../system/start-system.ts";
import { type BenchResult, quantile } from "./result.ts";

const PROBES = 60;
const Clicks = z.object({ data: z.array(z.object({ click_id: z.string() })) });

/**
 * Time from a click's answer to the first `GET /clicks` that shows it, while `clicksPerSecond` go through the whole service on this
 * machine.
 */
export async function benchFreshness(clicksPerSecond: number): Promise<BenchResult> {
  await using system = await startSystem();
  const { client } = system;
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0" };
  let running = true;
  let sent = 0;
  const startedAtMs = performance.now();
  const background = Array.from({ length: 32 }, async () => {
    while (running) {
      const dueMs = startedAtMs + (sent / clicksPerSecond) * 1_000;
      sent += 1;
      if (dueMs > performance.now()) await pause(dueMs - performance.now());
      await client.attempt(`${link}?sub1=load`, headers);
    }
  });
  const delaysMs: number[] = [];
  for (let probe = 0; probe < PROBES; probe += 1) {
    await client.attempt(`${link}?sub1=probe-${probe}`, headers);
    const answeredAtMs = performance.now();
    for (;;) {
      const page = Clicks.parse(await client.rest(`/clicks?sub1=probe-${probe}`));
      if (page.data.length > 0) break;
      if (performance.now() - answeredAtMs > 30_000)
        throw new Error("a click was not readable within 30 s");
      await pause(20);
    }
    delaysMs.push(performance.now() - answeredAtMs);
  }
  const reached = sent / ((performance.now() - startedAtMs) / 1_000);
  running = false;
  await Promise.all(background);
  const p99 = quantile(delaysMs, 0.99);
  return {
    name: `click -> readable in GET /clicks, at ${Math.round(reached)}/s`,
    figure: `p50 ${quantile(delaysMs, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    baseline: "-",
    ratio: null,
    budget: "p99 <= 2000 ms at 5000/s",
    ok: p99 <= 2_000,
  };
}
