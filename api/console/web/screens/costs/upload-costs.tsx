import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { CsvInput } from "../../parts/csv-input.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { lineOf } from "./csv-lines.ts";

const EXAMPLE = "date,offer_id,traffic_source,currency,amount\n2026-11-24,SUMMER,google,USD,25.40";
const MEGABYTES_MAX = 4;

type Rejected = { readonly row: number; readonly fields: Readonly<Record<string, string>> };

/** Sends costs as CSV. Rows that the API rejects are shown with their line; the others are stored. */
export function UploadCosts({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api } = useMembership();
  const [text, setText] = useState("");
  const send = useWrite(["ad-costs"], async (csv: string) => {
    const { data } = await read(
      api.POST("/ad-costs", {
        body: csv,
        bodySerializer: String,
        headers: { "content-type": "text/csv" },
      }),
    );
    return { ...data, csv };
  });
  return (
    <Drawer title="Add costs" onClose={onClose}>
      <p className="muted">
        A header line names the columns in any order: date, hour, offer_id, affiliate_id,
        traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount. Sending a cost again
        replaces its amount; 0 cancels it.
      </p>
      <pre className="answer">{EXAMPLE}</pre>
      <CsvInput label="CSV" text={text} onChange={setText} megabytesMax={MEGABYTES_MAX} />
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={text.trim() === "" || send.isPending}
          onClick={() => send.mutate(text)}
        >
          {send.isPending ? "Sending" : "Send the costs"}
        </button>
      </div>
      {send.isError && <ProblemNotice error={send.error} />}
      {send.data !== undefined && (
        <>
          <p role="status">
            {formatCount(send.data.inserted)} new, {formatCount(send.data.updated)} changed,{" "}
            {formatCount(send.data.rejected.length)} rejected.
          </p>
          <RejectedRows rejected={send.data.rejected} csv={send.data.csv} />
        </>
      )}
    </Drawer>
  );
}

function RejectedRows({
  rejected,
  csv,
}: {
  readonly rejected: readonly Rejected[];
  readonly csv: string;
}): ReactElement | null {
  if (rejected.length === 0) return null;
  return (
    <section className="stack tight">
      <h3>Rejected rows</h3>
      <ul className="plain-list">
        {rejected.map(({ row, fields }) => {
          const line = lineOf(csv, row);
          return (
            <li key={row}>
              <strong>{line === undefined ? `Row ${row}` : `Line ${line.number}`}</strong>
              {Object.entries(fields).map(([field, fault]) => (
                <p key={field} className="fault">
                  <code>{field}</code>: {fault}
                </p>
              ))}
              {line !== undefined && (
                <p className="mono muted break">
                  <StrangerText text={line.text} />
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
