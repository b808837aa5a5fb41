import type { PostbackReply } from "../../../schemas/events/postback-request.ts";

/** What a postback must pass, in the order in which the conversion processors check it. */
const STEPS = [
  "parameters",
  "token",
  "click",
  "offer",
  "event",
  "currency",
  "method",
  "partner",
  "decision",
] as const;
type Step = (typeof STEPS)[number];

/** Errors of each step, by their beginning. An error that is not listed belongs to the step of its result. */
const ERRORS: readonly (readonly [beginning: string, step: Step])[] = [
  ["token not valid for this offer", "offer"],
  ["unknown event for this offer", "event"],
  ["offer has no default event", "event"],
  ["invalid currency", "currency"],
  ["offer does not accept", "method"],
  ["unknown aff_id", "partner"],
  ["coupon partner not found", "partner"],
  ["unknown conversion_id", "click"],
  ["offer", "offer"],
  ["unknown offer_id", "offer"],
  ["workspace not active", "offer"],
  ["this tracking domain", "offer"],
];
const RESULTS: Readonly<Partial<Record<PostbackReply["result"], Step>>> = {
  malformed: "parameters",
  token_required: "token",
  invalid_token: "token",
  advertiser_inactive: "token",
  unknown_click: "click",
  coupon_error: "click",
  unknown_offer: "offer",
};

type Judged = {
  readonly name: Step;
  readonly outcome: "passed" | "failed" | "not_reached";
  readonly message: string;
};

/** How far a postback came. The failed step's message is the error; the last step's message is status and reason. */
export function stepsOf({
  result,
  answer,
}: {
  readonly result: PostbackReply["result"];
  readonly answer: PostbackReply["body"];
}): Judged[] {
  const text = (name: string): string => {
    const value = answer[name];
    return typeof value === "string" ? value : "";
  };
  if (answer.ok) {
    const outcome = [text("status"), text("reason")].filter((word) => word !== "").join("; ");
    return STEPS.map((name) => ({
      name,
      outcome: "passed",
      message: name === "decision" ? outcome : "",
    }));
  }
  const error = text("error");
  const failed = failedStep(error, result);
  const at = STEPS.indexOf(failed);
  return STEPS.map((name, index) => ({
    name,
    outcome: index < at ? "passed" : index === at ? "failed" : "not_reached",
    message: index === at ? error : "",
  }));
}

function failedStep(error: string, result: PostbackReply["result"]): Step {
  const named = ERRORS.find(([beginning]) => error.startsWith(beginning));
  return named?.[1] ?? RESULTS[result] ?? "decision";
}
