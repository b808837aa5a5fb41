import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactElement, useId, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { attemptsInWords, tells } from "./delivery-attempts.ts";
import { DeliveryHistory } from "./delivery-history.tsx";

/** Attempts follow each other within seconds at first. */
const REFRESH_MS = 5_000;

type Undelivered = "failed" | "retrying";
const UNDELIVERED: readonly (readonly [status: Undelivered, label: string])[] = [
  ["failed", "Retry failed"],
  ["retrying", "Retry all now"],
];

type Delivery =
  | components["schemas"]["PostbackDelivery"]
  | components["schemas"]["WebhookDelivery"];
type Endpoint = { readonly kind: "postbacks" | "webhooks"; readonly id: number };

/** The newest deliveries of an endpoint with what was answered, and another try for failed ones. */
export function Deliveries({
  kind,
  id,
  mayRetry,
}: Endpoint & { readonly mayRetry: boolean }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
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
  const retry = useWrite(["deliveries", "delivery"], async (status: Undelivered) => {
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
            <OneDelivery {...{ kind, delivery, mayRetry }} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** One delivery in a few lines. Opened, it has all its attempts. */
function OneDelivery({
  kind,
  delivery,
  mayRetry,
}: {
  readonly kind: Endpoint["kind"];
  readonly delivery: Delivery;
  readonly mayRetry: boolean;
}): ReactElement {
  const { zone } = useMembership();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { created_at: created, total_attempts: total, response_status: answered } = delivery;
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <>
      <div className="row wrap">
        <button
          type="button"
          className="button plain"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <Arrow size={14} aria-hidden /> {tells(delivery)}
        </button>
        <StatusBadge status={delivery.status} />
      </div>
      <p className="muted">
        {formatInstant(created, zone)}, {attemptsInWords(total)}
        {answered !== null && `, answered ${answered}`}
        {delivery.next_attempt_at !== null &&
          `, next at ${formatInstant(delivery.next_attempt_at, zone)}`}
      </p>
      <div id={id} className="stack tight">
        {isOpen ? (
          <DeliveryHistory kind={kind} id={delivery.id} mayRetry={mayRetry} />
        ) : (
          <LastAttempt delivery={delivery} />
        )}
        {isOpen && delivery.error === "conversion rejected" && (
          <p className="muted">No longer sent, because the conversion was rejected.</p>
        )}
      </div>
    </>
  );
}

function LastAttempt({
  delivery: { url, error, response_body: body },
}: {
  readonly delivery: Delivery;
}): ReactElement {
  return (
    <>
      <span className="mono break">
        <StrangerText text={url} />
      </span>
      {error !== "" && (
        <p className="muted">
          <StrangerText text={error} />
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
