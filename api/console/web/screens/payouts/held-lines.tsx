import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { RecordForm } from "../../records/record-form.tsx";
import {
  heldWords,
  isReleasable,
  PAYOUT_NAMES,
  type PayoutLine,
  type PayoutRun,
} from "./payout.ts";
import { heldColumns } from "./payout-columns.tsx";
import { useMethods } from "./use-methods.ts";

/** Who is not paid, and why. An admin may release a line of a draft. */
export function HeldLines({ run }: { readonly run: PayoutRun }): ReactElement {
  const { role } = useMembership();
  const { wordsOf } = useMethods();
  const [released, setReleased] = useState<PayoutLine>();
  const mayRelease = role === "admin" && run.status === "draft";
  const release: Column<PayoutLine> = {
    name: "release",
    title: "Release",
    cell: (line) =>
      isReleasable(line) ? (
        <button
          type="button"
          className="button"
          aria-label={`Release ${line.affiliate_name ?? ""}`}
          onClick={() => setReleased(line)}
        >
          Release
        </button>
      ) : (
        <span className="muted">Correct the details, then make a new run</span>
      ),
  };
  return (
    <section className="panel stack">
      <h2>Held</h2>
      <p className="muted">
        These partners are not paid with this run. The next run may pay their statements.
      </p>
      <DataTable<PayoutLine>
        caption="Held payments"
        rows={run.held}
        keyOf={({ id }) => String(id)}
        columns={[
          ...heldColumns<PayoutLine>(run.currency, wordsOf),
          ...(mayRelease ? [release] : []),
        ]}
      />
      {released !== undefined && <Release line={released} onClose={() => setReleased(undefined)} />}
    </section>
  );
}

function Release({
  line: { id, affiliate_name: name = "", reason },
  onClose,
}: {
  readonly line: PayoutLine;
  readonly onClose: () => void;
}): ReactElement {
  const { api } = useMembership();
  const save = useWrite(PAYOUT_NAMES, async (why: string) => {
    await read(
      api.POST("/payout-lines/{id}/release", { params: { path: { id } }, body: { reason: why } }),
    );
    onClose();
  });
  return (
    <Drawer title={`Release ${name}`} onClose={onClose}>
      <p>
        Held: {heldWords(reason)}. Check with the partner in a way that you know before you release
        it. A later change of the payment details holds it again.
      </p>
      <RecordForm
        fields={[{ name: "reason", label: "Why it may be paid", required: true }]}
        submit="Release"
        onSubmit={async ({ reason: why = "" }) => await save.mutateAsync(String(why))}
      />
    </Drawer>
  );
}
