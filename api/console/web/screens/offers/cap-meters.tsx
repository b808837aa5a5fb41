import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { fromAddress, type Query } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount, formatFraction, NOT_DEFINED } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";

const FULL = 100;

/** How much of each cap is used. */
export function CapMeters({
  query,
  title = "Caps",
  namesOwners = false,
  none = null,
}: {
  readonly query: Query;
  readonly title?: string;
  /** For caps of several owners. */
  readonly namesOwners?: boolean;
  /** Shown where there is no cap. */
  readonly none?: ReactElement | null;
}): ReactElement | null {
  const membership = useMembership();
  const { api, zone } = membership;
  const usage = useRecord(membership, {
    name: "cap-usage",
    id: JSON.stringify(query),
    load: async (signal) =>
      (await read(api.GET("/cap-usage", { params: { query: fromAddress(query) }, signal }))).data,
  });
  if (usage.isError) return <ProblemNotice error={usage.error} />;
  if (usage.data === undefined) return null;
  if (usage.data.length === 0) return none;
  return (
    <section className="stack tight">
      <h3>{title}</h3>
      <ul className="plain-list">
        {usage.data.map(
          ({ owner_kind: kind, owner_name: owner, measure, period, currency, ...cap }) => {
            const { limit, used, share, resets_at: resetsAt } = cap;
            const amount = (value: number | string): string =>
              currency === null ? formatCount(value) : formatMoney(String(value), currency);
            return (
              <li key={`${kind} ${cap.owner_id} ${measure} ${period} ${currency ?? ""}`}>
                <div className="row">
                  <span className="grow">
                    {namesOwners && (
                      <>
                        <Owner kind={kind} id={cap.owner_id} name={owner} />:{" "}
                      </>
                    )}
                    {measure}, {period}
                  </span>
                  <span>
                    {used === null ? NOT_DEFINED : amount(used)} of {amount(limit)}
                    {share !== null && ` (${formatFraction(share)})`}
                  </span>
                </div>
                <meter
                  className="meter"
                  min={0}
                  max={FULL}
                  value={Math.min(FULL, (share ?? 0) * FULL)}
                >
                  {formatFraction(share ?? 0)}
                </meter>
                {resetsAt !== null && (
                  <p className="muted">Resets {formatInstant(resetsAt, zone)}</p>
                )}
              </li>
            );
          },
        )}
      </ul>
    </section>
  );
}

const PATHS = { offer: "/offers", advertiser: "/advertisers" } as const;

function Owner({
  kind,
  id,
  name,
}: {
  readonly kind: string;
  readonly id: number;
  readonly name: string;
}): ReactElement {
  const text = <StrangerText text={name} />;
  return (
    <>
      {kind === "offer" || kind === "advertiser" ? (
        <RecordLink path={PATHS[kind]} id={id}>
          {text}
        </RecordLink>
      ) : (
        text
      )}{" "}
      ({kind.replaceAll("_", " ")})
    </>
  );
}
