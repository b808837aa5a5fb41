import { jsonAnswer } from "../answers.ts";
import type { Answer } from "../route.ts";

/** For balancers, who get the status only: the facts are on the operations port. */
export function healthAnswer(isHealthy: boolean): Answer {
  const { body, ...answer } = jsonAnswer(isHealthy ? 200 : 503, { ok: isHealthy });
  return { ...answer, body: `${String(body)}\n` };
}
