import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";

type State = components["schemas"]["System"];
type Process = State["processes"][number];

const HEIGHT = 480;
const REFRESH_MS = 10_000;
const TITLES = {
  clicks: "Clicks",
  journal: "Journals",
  lanes: "Lanes",
  stores: "Stores",
  audit: "Audits",
} as const;
const WORDS = {
  well: ["good", "well"],
  degraded: ["warn", "degraded"],
  unknown: ["warn", "cannot tell"],
  lost: ["bad", "may be lost"],
} as const;

const COLUMNS: readonly Column<Process>[] = [
  { name: "name", title: "Process", cell: ({ name }) => <code>{name}</code> },
  { name: "role", title: "Role", cell: ({ role }) => role },
  {
    name: "answers",
    title: "State",
    cell: ({ answers }) => (
      <span className={answers ? "badge good" : "badge bad"}>{answers ? "answers" : "silent"}</span>
    ),
  },
  { name: "host", title: "Host", cell: ({ host }) => host },
  { name: "version", title: "Version", cell: ({ version }) => version },
  { name: "commit", title: "Commit", cell: ({ commit }) => <code>{commit.slice(0, 10)}</code> },
  {
    name: "age",
    title: "Heartbeat",
    isNumber: true,
    cell: (row) =>
      row.heartbeat_age_seconds === null ? "" : `${row.heartbeat_age_seconds.toFixed(0)} s ago`,
  },
];

/** Whether the installation is well: asked of every server and process, not of the process that answers this page. */
export function System(): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const system = useRecord(membership, {
    name: "system",
    id: "all",
    everyMs: REFRESH_MS,
    load: async (signal) => (await read(api.GET("/system", { signal }))).data,
  });
  const { data } = system;
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">System</h1>
        {data !== undefined && (
          <>
            <StateBadge state={data.state} />
            <span className="muted">{formatInstant(data.at, zone)}</span>
          </>
        )}
      </div>
      {system.isError && (
        <ProblemNotice error={system.error} onRetry={() => void system.refetch()} />
      )}
      {data === undefined && !system.isError && <Skeleton height={HEIGHT} />}
      {data !== undefined && (
        <>
          <div className="columns">
            <Stores stores={data.stores} />
            <WaitingFacts waiting={data.waiting} />
          </div>
          <SystemLines lines={data.lines} />
          <section className="panel stack">
            <h2>Processes</h2>
            <DataTable
              caption="Processes"
              columns={COLUMNS}
              rows={data.processes}
              keyOf={({ name, host, heartbeat_age_seconds: age }) => `${host} ${name} ${age ?? ""}`}
            />
          </section>
        </>
      )}
    </>
  );
}

function StateBadge({ state }: { readonly state: keyof typeof WORDS }): ReactElement {
  const [tone, words] = WORDS[state];
  return <span className={`badge ${tone}`}>{words}</span>;
}

function Stores({ stores }: { readonly stores: State["stores"] }): ReactElement {
  return (
    <section className="panel stack">
      <h2>Servers</h2>
      <Facts
        facts={stores.map(({ name, is_reachable: isThere, version, reason }) => [
          name,
          <span key={name} className="row wrap">
            <span className={isThere ? "badge good" : "badge bad"}>
              {isThere ? "reachable" : "away"}
            </span>
            {version ?? reason ?? ""}
          </span>,
        ])}
      />
    </section>
  );
}

function WaitingFacts({ waiting }: { readonly waiting: State["waiting"] }): ReactElement {
  return (
    <section className="panel stack">
      <h2>Waiting</h2>
      <Facts
        facts={[
          ["Conversions for ClickHouse", formatCount(waiting.conversions)],
          ["Ad costs for ClickHouse", formatCount(waiting.ad_costs)],
          ["Deliveries", formatCount(waiting.deliveries)],
          ["Oldest delivery is due since", `${waiting.oldest_delivery_seconds.toFixed(0)} s`],
        ]}
      />
    </section>
  );
}

function SystemLines({ lines }: { readonly lines: State["lines"] }): ReactElement {
  return (
    <section className="panel stack">
      <h2>Parts of the service</h2>
      <Facts
        facts={lines.map(({ name, state, parts }) => [
          TITLES[name],
          <div key={name} className="row wrap">
            <StateBadge state={state} />
            {parts.map(({ text, fault }) => (
              <span key={text} className={fault === null ? "muted" : "badge warn long"}>
                {text}
              </span>
            ))}
          </div>,
        ])}
      />
    </section>
  );
}
