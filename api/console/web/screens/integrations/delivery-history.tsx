import { type ReactElement, useRef } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type Attempt, type AttemptEntry, attemptLog } from "./delivery-attempts.ts";

const REFRESH_MS = 5_000;
const HEIGHT = 96;

type Of = {
  readonly kind: "postbacks" | "webhooks";
  readonly id: string;
};

/** Every attempt of one delivery, with what was sent and answered, and another try. */
export function DeliveryHistory({
  kind,
  id,
  mayRetry,
}: Of & { readonly mayRetry: boolean }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id } };
  const delivery = useRecord(membership, {
    name: "delivery",
    id,
    // What has ended may still be sent again, by others too.
    everyMs: REFRESH_MS,
    load: async (signal) =>
      kind === "postbacks"
        ? (await read(api.GET("/postback-deliveries/{id}", { params, signal }))).data
        : (await read(api.GET("/webhook-deliveries/{id}", { params, signal }))).data,
  });
  if (delivery.data === undefined)
    return delivery.isError ? (
      <ProblemNotice error={delivery.error} />
    ) : (
      <Skeleton height={HEIGHT} />
    );
  const { entries, forgotten } = attemptLog(delivery.data);
  return (
    <div className="stack tight">
      {mayRetry && <RetryOne kind={kind} id={id} status={delivery.data.status} />}
      {entries.length === 0 && <p className="muted">No attempt was made yet.</p>}
      <ol className="plain-list timeline">
        {entries.map((entry) => (
          <li key={entry.number}>
            <Entry entry={entry} />
          </li>
        ))}
      </ol>
      {forgotten > 0 && (
        <p className="muted">{formatCount(forgotten)} earlier attempts are no longer kept.</p>
      )}
    </div>
  );
}

function RetryOne({ kind, id, status }: Of & { readonly status: string }): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  // Two presses before the next render would both be sent, and a refusal of the second would stand in place of the result.
  const isAsked = useRef(false);
  const retry = useWrite(["deliveries", "delivery"], async () => {
    try {
      if (kind === "postbacks") await read(api.POST("/postback-deliveries/{id}/retry", { params }));
      else await read(api.POST("/webhook-deliveries/{id}/retry", { params }));
    } finally {
      isAsked.current = false;
    }
  });
  const ask = (): void => {
    if (isAsked.current) return;
    isAsked.current = true;
    retry.mutate(undefined);
  };
  // The document of a webhook may be sent again after it arrived. The repeat is a delivery of its own, so one press is enough.
  const isOffered =
    kind === "webhooks"
      ? status !== "pending" && !retry.isSuccess
      : status === "failed" || status === "retrying";
  return (
    <>
      {isOffered && (
        <div className="row">
          <button type="button" className="button" disabled={retry.isPending} onClick={ask}>
            {status === "delivered" ? "Send again" : "Retry this one"}
          </button>
        </div>
      )}
      {retry.isError && <ProblemNotice error={retry.error} />}
      {retry.isSuccess && (
        <p role="status">
          {kind === "webhooks"
            ? "It is sent again as a new delivery, at the top of the list."
            : "It is sent again. The result appears here."}
        </p>
      )}
    </>
  );
}

function Entry({ entry }: { readonly entry: AttemptEntry }): ReactElement {
  const { zone } = useMembership();
  const { number, kind } = entry;
  if (kind !== "known")
    return (
      <>
        <strong>Attempt {number}</strong>
        <p className="muted">
          {kind === "under-way"
            ? "Sending now."
            : "The result is unknown, because the sender stopped before it was recorded. It may have arrived."}
        </p>
      </>
    );
  const { attempt } = entry;
  return (
    <>
      <div className="row wrap">
        <strong>Attempt {number}</strong>
        <StatusBadge status={attempt.status === "delivered" ? "delivered" : "failed"} />
        <span className="muted">
          {formatInstant(attempt.sent_at, zone)}, {formatCount(attempt.duration_ms)} ms
        </span>
      </div>
      <Sent attempt={attempt} />
      <Answered attempt={attempt} />
    </>
  );
}

function Sent({ attempt: { method, url, body } }: { readonly attempt: Attempt }): ReactElement {
  const { role } = useMembership();
  return (
    <>
      <p className="label">{method === null ? "Shown on a page" : "Sent"}</p>
      {method !== null && url !== "" && (
        <p className="mono break">
          {method} <StrangerText text={url} />
        </p>
      )}
      {method !== null && url === "" && (
        <p className="muted">
          {role === "partner"
            ? "The request is not shown: it was erased, or has values for the staff only."
            : "The request was erased."}
        </p>
      )}
      {body !== "" && (
        <pre className="answer break">
          <StrangerText text={body} />
        </pre>
      )}
    </>
  );
}

function Answered({
  attempt: { method, error, response_status: status, response_body: body },
}: {
  readonly attempt: Attempt;
}): ReactElement | null {
  if (method === null) return null;
  return (
    <>
      <p className="label">
        {status === null ? "No answer: " : `Answered ${status}`}
        {status === null && <StrangerText text={error} />}
      </p>
      {body !== "" && (
        <pre className="answer break">
          <StrangerText text={body} />
        </pre>
      )}
    </>
  );
}
