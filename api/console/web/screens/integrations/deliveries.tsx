import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactElement, useId, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress, type LoadPage, useList } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { statusWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { MoreButton } from "../../records/more-button.tsx";
import { attemptsInWords, tells } from "./delivery-attempts.ts";
import { DeliveryHistory } from "./delivery-history.tsx";

/** Attempts follow each other within seconds at first. */
const REFRESH_MS = 5_000;
const HEIGHT = 160;

type Undelivered = "failed" | "retrying";
const UNDELIVERED: readonly (readonly [status: Undelivered, label: string])[] = [
  ["failed", "Retry failed"],
  ["retrying", "Retry all now"],
];
const SHOWN = [undefined, "failed", "retrying", "delivered"] as const;

type Delivery =
  | components["schemas"]["PostbackDelivery"]
  | components["schemas"]["WebhookDelivery"];
type Endpoint = { readonly kind: "postbacks" | "webhooks"; readonly id: number };

/** The deliveries of an endpoint with what was answered, newest first, and another try for those that did not arrive. */
export function Deliveries({
  kind,
  id,
  mayRetry,
}: Endpoint & { readonly mayRetry: boolean }): ReactElement {
  const membership = useMembership();
  const [status, setStatus] = useState<(typeof SHOWN)[number]>();
  const list = useList<Delivery>(membership, {
    name: "deliveries",
    of: `${kind} ${id}`,
    query: status === undefined ? {} : { status },
    everyMs: REFRESH_MS,
    load: useDeliveryPage({ kind, id }),
  });
  return (
    <section className="stack tight">
      <h3>Deliveries</h3>
      <div className="segments" role="group" aria-label="Which deliveries">
        {SHOWN.map((one) => (
          <button
            key={one ?? "all"}
            type="button"
            aria-pressed={status === one}
            onClick={() => setStatus(one)}
          >
            {one === undefined ? "All" : statusWords(one)}
          </button>
        ))}
      </div>
      {mayRetry && <RetryMany kind={kind} id={id} />}
      {list.isError && <ProblemNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && !list.isError && <Skeleton height={HEIGHT} />}
      {list.data !== undefined && (
        <Listed
          {...{ kind, mayRetry }}
          rows={list.data.pages.flatMap(({ data }) => data)}
          nothing={status === undefined ? "Nothing was sent yet." : "None of these at the moment."}
        />
      )}
      <MoreButton list={list} />
    </section>
  );
}

function Listed({
  kind,
  mayRetry,
  rows,
  nothing,
}: Pick<Endpoint, "kind"> & {
  readonly mayRetry: boolean;
  readonly rows: readonly Delivery[];
  readonly nothing: string;
}): ReactElement {
  if (rows.length === 0) return <p className="muted">{nothing}</p>;
  return (
    <ol className="plain-list">
      {rows.map((delivery) => (
        <li key={delivery.id}>
          <OneDelivery {...{ kind, delivery, mayRetry }} />
        </li>
      ))}
    </ol>
  );
}

/** Reads a page of the deliveries of an endpoint. */
function useDeliveryPage({ kind, id }: Endpoint): LoadPage<Delivery> {
  const { api } = useMembership();
  return async (asked, signal) => {
    const params = { path: { id }, query: fromAddress(asked) };
    return kind === "postbacks"
      ? await read(api.GET("/postbacks/{id}/deliveries", { params, signal }))
      : await read(api.GET("/webhooks/{id}/deliveries", { params, signal }));
  };
}

/** Sends again what did not arrive, whichever deliveries are shown. */
function RetryMany({ kind, id }: Endpoint): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const page = useDeliveryPage({ kind, id });
  const waiting = useRecord(membership, {
    name: "deliveries",
    id: `undelivered of ${kind} ${id}`,
    everyMs: REFRESH_MS,
    load: async (signal) => {
      const found = await Promise.all(
        UNDELIVERED.map(async ([status]) => await page({ status, limit: "1" }, signal)),
      );
      return UNDELIVERED.filter((_, at) => (found[at]?.data.length ?? 0) > 0);
    },
  });
  const retry = useWrite(["deliveries", "delivery"], async (status: Undelivered) => {
    const options = { params: { path: { id } }, body: { status } };
    return kind === "postbacks"
      ? await read(api.POST("/postbacks/{id}/deliveries/retry", options))
      : await read(api.POST("/webhooks/{id}/deliveries/retry", options));
  });
  return (
    <>
      {waiting.data !== undefined && waiting.data.length > 0 && (
        <div className="row wrap">
          {waiting.data.map(([status, label]) => (
            <button
              key={status}
              type="button"
              className="button"
              disabled={retry.isPending}
              onClick={() => retry.mutate(status)}
            >
              {label}
            </button>
          ))}
        </div>
      )}
      {retry.isError && <ProblemNotice error={retry.error} />}
      {retry.data !== undefined && (
        <p role="status">Retrying {formatCount(retry.data.data.restarted.length)}.</p>
      )}
    </>
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
