import type { Metrics } from "../../schemas/host/metrics.ts";
import { jsonAnswer, NO_STORE } from "../answers.ts";
import type { Answer } from "../route.ts";

/** Facts for a load balancer, and for the person on call. */
export type HealthFacts = {
  readonly ok: boolean;
  readonly [name: string]: string | number | boolean | null;
};

export function healthAnswer(facts: HealthFacts): Answer {
  const { body, ...answer } = jsonAnswer(facts.ok ? 200 : 503, facts);
  return { ...answer, body: `${String(body)}\n` };
}

export function metricsAnswer(metrics: Metrics): Answer {
  return {
    status: 200,
    headers: [["Content-Type", "text/plain; version=0.0.4; charset=utf-8"], NO_STORE],
    body: metrics.render(),
  };
}
