import { useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices } from "../../client/choices.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { RecordChoice } from "../../records/record-choice.tsx";
import { STATEMENT_NAMES, type Statement } from "./statement.ts";
import { statementColumns } from "./statement-columns.tsx";
import { sumsText } from "./sums.ts";

const HEIGHT = 160;
/** Money first: a drawer is narrow. */
const PREVIEWED = ["partner", "gross", "carried", "total", "status", "period", "due"];

/** What would be made is shown before it is. */
export function ClosePeriods({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api, membershipId } = useMembership();
  const [partner, setPartner] = useState("");
  const [until, setUntil] = useState("");
  const body = {
    affiliate_id: partner === "" ? null : Number(partner),
    until: partner === "" || until === "" ? null : until,
  };
  const preview = useQuery({
    queryKey: [membershipId, "statements", "preview", body],
    queryFn: async ({ signal }) =>
      (await read(api.POST("/statements/close", { body: { ...body, dry_run: true }, signal })))
        .data,
    staleTime: 0,
  });
  const close = useWriteOnce(STATEMENT_NAMES, async () => {
    const { data } = await read(api.POST("/statements/close", { body }));
    return data;
  });
  if (close.data !== undefined) return <Closed closed={close.data} onClose={onClose} />;
  return (
    <Drawer title="Close periods" onClose={onClose}>
      <p className="muted">
        Periods that have ended get their statements by themselves, some hours after their end.
        Close them here sooner, or end the running period of one partner.
      </p>
      <RecordChoice
        label="Partner"
        load={affiliateIdChoices}
        value={partner}
        none="All partners"
        onChange={setPartner}
      />
      {partner !== "" && (
        <TextField
          label="Until"
          type="date"
          value={until}
          hint="Last day of the running period. Leave it empty to close only what has ended."
          onChange={setUntil}
        />
      )}
      <h3>What would be made</h3>
      <Awaited asked={preview} height={HEIGHT}>
        {({ statements }) => (
          <p>{statements.length === 0 ? "Nothing is due." : made(statements)}</p>
        )}
      </Awaited>
      {close.isError && <ProblemNotice error={close.error} />}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={close.isPending || preview.isFetching || isNothingDue(preview.data)}
          onClick={() => close.mutate(undefined)}
        >
          {close.isPending ? "Closing" : "Make the statements"}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
      <Preview closing={preview.data} />
    </Drawer>
  );
}

type Closing = { readonly statements: readonly Statement[]; readonly has_more: boolean };

function isNothingDue(preview: Closing | undefined): boolean {
  return preview === undefined || preview.statements.length === 0;
}

function Closed({
  closed,
  onClose,
}: {
  readonly closed: Closing;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <Drawer title="Close periods" onClose={onClose}>
      <p role="status">
        {made(closed.statements)} made. {closed.has_more && "More accounts are due: close again."}
      </p>
      <div className="row">
        <button type="button" className="button first" onClick={onClose}>
          Done
        </button>
      </div>
    </Drawer>
  );
}

function Preview({ closing }: { readonly closing: Closing | undefined }): ReactElement | null {
  const rows = closing?.statements ?? [];
  if (rows.length === 0) return null;
  const all = statementColumns(false);
  const columns = PREVIEWED.flatMap((name) => all.filter((column) => column.name === name));
  return (
    <DataTable
      caption="Statements that would be made"
      columns={columns}
      rows={rows}
      keyOf={({ affiliate_id, currency, period }) => `${affiliate_id} ${currency} ${period.from}`}
    />
  );
}

/** Such as "2 drafts with €120.00, 1 carried". */
function made(rows: readonly Statement[]): string {
  const drafts = rows.filter(({ status }) => status === "draft");
  const carried = rows.length - drafts.length;
  const words = [
    drafts.length === 0
      ? ""
      : `${formatCount(drafts.length)} ${drafts.length === 1 ? "draft" : "drafts"} with ${sumsText(drafts)}`,
    carried === 0 ? "" : `${formatCount(carried)} carried`,
  ].filter((word) => word !== "");
  return words.length === 0 ? "No statements" : words.join(", ");
}
