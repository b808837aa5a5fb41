import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";

/** Attempts follow each other within seconds at first. */
const REFRESH_MS = 5_000;

type Undelivered = "failed" | "retrying";
const UNDELIVERED: readonly (readonly [status: Undelivered, label: string])[] = [
  ["failed", "Retry failed"],
  ["retrying", "Retry all now"],
];

type Endpoint = { readonly kind: "postbacks" | "webhooks"; readonly id: number };

/** The newest deliveries of an endpoint with what was answered, and another try for failed ones. */
export function Deliveries({
  kind,
  id,
  mayRetry,
}: Endpoint & { readonly mayRetry: boolean }): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const params = { path: { id } };
  const deliveries = useRecord(membership, {
    name: "deliveries",
    id: `${kind} ${id}`,
    everyMs: REFRESH_MS,
    load: async (signal) =>
      kind === "postbacks"
        ? (await read(api.GET("/postbacks/{id}/deliveries", { params, signal }))).data
        : (await read(api.GET("/webhooks/{id}/deliveries", { params, signal }))).data,
  });
  const retry = useWrite(["deliveries"], async (status: Undelivered) => {
    const body = { status };
    return kind === "postbacks"
      ? await read(api.POST("/postbacks/{id}/deliveries/retry", { params, body }))
      : await read(api.POST("/webhooks/{id}/deliveries/retry", { params, body }));
  });
  const has = (wanted: string): boolean =>
    deliveries.data?.some(({ status }) => status === wanted) ?? false;
  return (
    <section className="stack tight">
      <div className="row">
        <h3 className="grow">Deliveries</h3>
        {mayRetry &&
          UNDELIVERED.map(
            ([status, label]) =>
              has(status) && (
                <button
                  key={status}
                  type="button"
                  className="button"
                  disabled={retry.isPending}
                  onClick={() => retry.mutate(status)}
                >
                  {label}
                </button>
              ),
          )}
      </div>
      {deliveries.isError && <ProblemNotice error={deliveries.error} />}
      {retry.isError && <ProblemNotice error={retry.error} />}
      {retry.data !== undefined && (
        <p role="status">Retrying {formatCount(retry.data.data.restarted.length)}.</p>
      )}
      {deliveries.data?.length === 0 && <p className="muted">Nothing was sent yet.</p>}
      <ol className="plain-list">
        {deliveries.data?.map((delivery) => (
          <li key={delivery.id}>
            <StatusBadge status={delivery.status} /> {formatInstant(delivery.created_at, zone)},{" "}
            {delivery.attempts} {delivery.attempts === 1 ? "attempt" : "attempts"}
            {delivery.response_status !== null && `, answered ${delivery.response_status}`}
            {delivery.next_attempt_at !== null &&
              `, next at ${formatInstant(delivery.next_attempt_at, zone)}`}
            <br />
            <span className="mono break">
              <StrangerText text={delivery.url} />
            </span>
            {delivery.error !== "" && <p className="muted">{delivery.error}</p>}
            {delivery.response_body !== "" && (
              <pre className="answer">
                <StrangerText text={delivery.response_body} />
              </pre>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
