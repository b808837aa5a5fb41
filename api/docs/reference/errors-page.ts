import { API_ERRORS } from "../../operation/errors.ts";
import { codeBlock, inlineProse } from "./html.ts";

const EXAMPLE = {
  error: {
    code: "validation_failed",
    message: "wrong or missing: payout, currency",
    details: { fields: { payout: "expected an amount", currency: "expected an ISO 4217 code" } },
  },
};

/** Every error code with its status and meaning. */
export function errorsPage(): string {
  const rows = Object.entries(API_ERRORS).map(
    ([code, { status, meaning }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${inlineProse(meaning)}</td></tr>`,
  );
  return `<h1>Errors</h1><p>Every failure has the same form. Programs read <code>code</code>, which is stable. People read
<code>message</code>, which may change.</p>
${codeBlock("json", JSON.stringify(EXAMPLE, null, 2))}
<p>After 429 and 503 wait as many seconds as <code>Retry-After</code> says, then send the call again. Every answer has an
<code>X-Request-Id</code>, by which the operator finds it in the log.</p>
<table><tr><th>Code</th><th>Status</th><th>Meaning</th></tr>${rows.join("")}</table>`;
}
