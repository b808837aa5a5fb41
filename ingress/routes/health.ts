import type { Metrics } from "../../schemas/host/metrics.ts";
import type { Answer } from "../route.ts";

/** What a load balancer and a person at three in the morning want to know. */
export type HealthFacts = {
  readonly ok: boolean;
  readonly [name: string]: string | number | boolean | null;
};

const NO_STORE = ["Cache-Control", "no-store"] as const;

export function healthAnswer(facts: HealthFacts): Answer {
  return {
    status: facts.ok ? 200 : 503,
    headers: [["Content-Type", "application/json; charset=utf-8"], NO_STORE],
    body: `${JSON.stringify(facts)}\n`,
  };
}

export function metricsAnswer(metrics: Metrics): Answer {
  return {
    status: 200,
    headers: [["Content-Type", "text/plain; version=0.0.4; charset=utf-8"], NO_STORE],
    body: metrics.render(),
  };
}
