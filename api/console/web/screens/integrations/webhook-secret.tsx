import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";

const HIDDEN = "•".repeat(16);

/** The secret that signs the requests of a webhook, hidden at first; another one in its place, and a sample request. */
export function WebhookSecret({
  webhook: {
    id,
    secret = "",
    events: [event],
  },
}: {
  readonly webhook: components["schemas"]["Webhook"];
}): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  const [isShown, setShown] = useState(false);
  const test = useWrite(["deliveries"], async (sample: NonNullable<typeof event>) => {
    await read(api.POST("/webhooks/{id}/test", { params, body: { event: sample } }));
  });
  const rotate = useWrite(["webhooks", "webhooks-one"], async () => {
    await read(api.POST("/webhooks/{id}/rotate-secret", { params }));
  });
  const error = test.error ?? rotate.error;
  return (
    <section className="stack tight">
      <h3>Secret</h3>
      <p>Requests are signed with this secret. Your server checks the signature of each.</p>
      <div className="row wrap">
        <code className="grow break">{isShown ? secret : HIDDEN}</code>
        <button
          type="button"
          className="button"
          aria-pressed={isShown}
          aria-label={isShown ? "Hide the secret" : "Show the secret"}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? "Hide" : "Show"}
        </button>
        <CopyButton label="Copy the secret" text={secret} />
      </div>
      <div className="row wrap">
        <ConfirmButton
          label="New secret"
          question="The current secret stops working immediately."
          isBusy={rotate.isPending}
          onConfirm={() => rotate.mutate(undefined)}
        />
        {event !== undefined && (
          <button
            type="button"
            className="button"
            disabled={test.isPending}
            onClick={() => test.mutate(event)}
          >
            Send a sample
          </button>
        )}
      </div>
      {test.isSuccess && <p role="status">A sample is sent.</p>}
      {error !== null && <ProblemNotice error={error} />}
    </section>
  );
}
