import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { faultWords, fieldWords } from "../../client/fault-words.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { CsvInput } from "../../parts/csv-input.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { useUnsaved } from "../../parts/unsaved.ts";
import { PAYOUT_NAMES } from "./payout.ts";

const MEGABYTES_MAX = 1;

/** What the bank or service did with each payment, as a file. */
export function PayoutResults({ id }: { readonly id: number }): ReactElement {
  const { api } = useMembership();
  const [text, setText] = useState("");
  const [sent, setSent] = useState("");
  const send = useWriteOnce(PAYOUT_NAMES, async (csv: string) => {
    const { data } = await read(
      api.POST("/payout-runs/{id}/results", {
        params: { path: { id } },
        body: csv,
        bodySerializer: (body) => body,
        headers: { "content-type": "text/csv" },
      }),
    );
    setSent(csv);
    return data;
  });
  useUnsaved(text !== sent, send.isPending);
  const outcome = send.data;
  return (
    <section className="panel stack">
      <h2>Results</h2>
      <p className="muted">
        A line for each payment below the line{" "}
        <code className="break">reference,status,external_id,amount,fee,at,error</code>. The status
        is paid, failed or returned. Sending a file again changes nothing twice.
      </p>
      <CsvInput
        label="Results as CSV"
        text={text}
        megabytesMax={MEGABYTES_MAX}
        onChange={(changed) => {
          setText(changed);
          send.reset();
        }}
      />
      {send.isError && <ProblemNotice error={send.error} />}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={send.isPending || text.trim() === ""}
          onClick={() => send.mutate(text)}
        >
          {send.isPending ? "Sending" : "Enter the results"}
        </button>
      </div>
      {outcome !== undefined && (
        <div role="status" className="stack tight">
          <p>
            {formatCount(outcome.applied)} applied, {formatCount(outcome.unchanged)} unchanged,{" "}
            {formatCount(outcome.rejected.length)} rejected.
            {outcome.rejected.length > 0 && " Rows are counted below the header line."}
          </p>
          {outcome.rejected.length > 0 && (
            <ul className="fault-list">
              {outcome.rejected.map(({ row, fields }) => (
                <li key={row}>
                  Row {row}:{" "}
                  {Object.entries(fields)
                    .map(([name, fault]) => `${fieldWords(name)}: ${faultWords(fault)}`)
                    .join(", ")}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </section>
  );
}
