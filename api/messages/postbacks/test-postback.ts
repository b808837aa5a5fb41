import { z } from "zod";
import {
  PARTNER_POSTBACK_MACROS,
  STAFF_POSTBACK_MACROS,
} from "../../../schemas/macros/macro-names.ts";
import {
  expandPostback,
  INVALID_POSTBACK_URL,
  postbackCall,
} from "../../../schemas/macros/postback-message.ts";
import { sampleValue } from "../../../schemas/macros/sample-values.ts";
import type { OutgoingAttempt } from "../../../schemas/outgoing/outgoing-client.ts";
import { pathId } from "../../http/path-fields.ts";
import { conflict } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { postbacks, postbackWrite, refuseForeignMacros } from "./postbacks.ts";

/** As deliveries follow them (PBO-028). */
const REDIRECTS_MAX = 3;

const Stored = z.looseObject({
  kind: z.string(),
  method: z.enum(["GET", "POST"]),
  url: z.string(),
  body: z.string(),
  created_by_affiliate: z.boolean(),
});

const Tested = z
  .strictObject({
    method: z.enum(["GET", "POST"]),
    url: z.string().meta({ description: "With the sample values filled in" }),
    body: z.string().meta({ description: "Empty without one" }),
    status: z.int().nullable().meta({ description: "Null when there was no answer" }),
    answer: z.string().meta({ description: "The first 2 KiB of the answer" }),
    error: z.string().meta({ description: "Empty for an answer of 200 to 299" }),
    duration_ms: z.int(),
  })
  .meta({ id: "PostbackTest" });

/** Nothing is stored: a test is no delivery, and neither repeats nor disables a postback. */
export const testPostback: Operation = operation({
  name: "testPostback",
  method: "POST",
  path: "/postbacks/{id}/test",
  tag: "Postbacks",
  summary: "Test a postback",
  description:
    "Sends the postback once with sample values and answers what was sent and received. The click ID is `00000000000000000000000000000000`, `{status}` is approved, `{payout}` 1.0000; " +
    "a macro without a sample of its own becomes its name, such as `test-sub1`. The postback need not be active. The receiver may count it as a conversion.",
  access: postbackWrite,
  input: { path: z.object({ id: pathId }), body: z.strictObject({}) },
  output: z.object({ data: Tested }),
  status: 200,
  failures: ["conflict", "forbidden"],
  findResource: postbacks.get.findResource,
  run: async ({ outgoing, principal }, { path, resource }) => {
    const postback = Stored.parse(resource);
    refuseForeignMacros(principal, postback);
    if (postback.kind !== "s2s")
      throw conflict("kind", "only a postback from server to server can be tested");
    const macros = postback.created_by_affiliate ? PARTNER_POSTBACK_MACROS : STAFF_POSTBACK_MACROS;
    const message = expandPostback(postback, macros, sampleValue);
    if ("invalidUrl" in message) {
      const none = { body: "", status: null, answer: "", duration_ms: 0 };
      const { method } = postback;
      const { invalidUrl: url } = message;
      return { body: { data: { method, url, ...none, error: INVALID_POSTBACK_URL } } };
    }
    const beganAtMs = performance.now();
    const attempt = await outgoing.attempt({
      ...postbackCall(message, { "x-tracker-test": "1" }),
      redirectsMax: REDIRECTS_MAX,
      connectionsOf: `postback test ${path.id}`,
    });
    const { method, url, body } = message;
    const sent = { method, url: url.href, body };
    const durationMs = Math.round(performance.now() - beganAtMs);
    return { body: { data: { ...sent, ...received(attempt), duration_ms: durationMs } } };
  },
});

function received(
  attempt: OutgoingAttempt,
): Pick<z.output<typeof Tested>, "status" | "answer" | "error"> {
  if (attempt.kind === "failed") return { status: null, answer: "", error: attempt.error };
  const { status, statusText, body } = attempt;
  const isTaken = status >= 200 && status <= 299;
  return { status, answer: body, error: isTaken ? "" : `HTTP ${status} ${statusText}`.trim() };
}
