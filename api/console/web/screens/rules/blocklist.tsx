import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { FormField, RecordBody } from "../../records/form-field.ts";
import { NestedForm } from "../../records/nested-form.tsx";

const HEIGHT = 240;
const FIELDS: readonly FormField[] = [
  { name: "entries", label: "One host in each line", kind: "lines" },
];

/** Targets to which no link may redirect: the workspace's and the operator's. */
export function Blocklist(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const lists = useRecord(membership, {
    name: "blocklist",
    id: "all",
    load: async (signal) => (await read(api.GET("/blocklist", { signal }))).data,
  });
  const save = useWrite(["blocklist"], async ({ entries = [] }: RecordBody) => {
    await read(
      api.PUT("/blocklist", {
        body: { entries: Array.isArray(entries) ? entries.map(String) : [] },
      }),
    );
  });
  return (
    <>
      <p className="muted">
        No link of the workspace redirects to these hosts, or to addresses below a host and path
        such as bad.example/offer.
      </p>
      {lists.isError && <ProblemNotice error={lists.error} />}
      {lists.data === undefined && !lists.isError && <Skeleton height={HEIGHT} />}
      {lists.data !== undefined && (
        <div className="columns">
          <section className="panel stack">
            <h2>Of this workspace</h2>
            {role === "admin" ? (
              <NestedForm
                key={lists.data.entries.join("\n")}
                fields={FIELDS}
                initial={{ entries: lists.data.entries }}
                submit="Save the list"
                onSubmit={save.mutateAsync}
              />
            ) : (
              <Entries entries={lists.data.entries} />
            )}
          </section>
          <section className="panel stack">
            <h2>Of the installation</h2>
            <p className="muted">The operator keeps this list. It applies to every workspace.</p>
            <Entries entries={lists.data.installation} />
          </section>
        </div>
      )}
    </>
  );
}

function Entries({ entries }: { readonly entries: readonly string[] }): ReactElement {
  if (entries.length === 0) return <p>No entries</p>;
  return (
    <ul className="plain-list break">
      {entries.map((entry) => (
        <li key={entry}>
          <StrangerText text={entry} />
        </li>
      ))}
    </ul>
  );
}
