import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { plainText } from "../../format/plain-text.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ClickFacts } from "./click-facts.tsx";

const HEIGHT = 320;

/** Everything that is known of one click, with its conversions. */
export function ClickDrawer({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const record = useRecord(membership, {
    name: "click",
    id,
    load: async (signal) =>
      (await read(api.GET("/clicks/{click_id}", { params: { path: { click_id: id } }, signal })))
        .data,
  });
  return (
    <Drawer title="Click" onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {record.data === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {record.data !== undefined && (
        <>
          <ClickFacts {...record.data} />
          <section className="stack tight">
            <h3>Conversions</h3>
            {record.data.conversions.length === 0 && <p className="muted">None yet.</p>}
            <ol className="plain-list">
              {record.data.conversions.map((conversion) => (
                <li key={conversion.id}>
                  <StatusBadge status={conversion.status} /> {conversion.event_code},{" "}
                  {formatInstant(conversion.conv_ts, zone)} <code>{conversion.id}</code>
                </li>
              ))}
            </ol>
          </section>
          <Extra extra={record.data.extra} />
        </>
      )}
    </Drawer>
  );
}

function Extra({
  extra,
}: {
  readonly extra: Readonly<Record<string, unknown>>;
}): ReactElement | null {
  const facts = Object.entries(extra).map(([name, value]): Fact => [name, plainText(value)]);
  if (facts.length === 0) return null;
  return (
    <section className="stack tight">
      <h3>Other parameters of the link</h3>
      <Facts facts={facts} />
    </section>
  );
}
