import { type ReactElement, useState } from "react";
import { useAddress } from "../../address/use-address.ts";
import type { ChosenFile } from "../../imports/file-source.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { NewUpdate } from "./new-update.tsx";
import { RecentUpdates } from "./recent-updates.tsx";
import { UpdateState } from "./update-state.tsx";
import { type Columns, type SentUpdate, useSendUpdate } from "./use-updates.ts";

/** What of a file that was sent from this page is needed to send it again. */
type Sent = Omit<SentUpdate, "columns"> & { readonly id: number };

/** Files of what advertisers confirm: checked, applied and undone. The address says which one is shown. */
export function Confirmations(): ReactElement {
  const membership = useMembership();
  const mayWrite = membership.role === "admin" && mayDo(membership, "conversions.write");
  const [search, change] = useAddress();
  const shown = Number(search.get("file") ?? "");
  const [file, setFile] = useState<ChosenFile>();
  const [sent, setSent] = useState<Sent>();
  const send = useSendUpdate();
  const start = (asked: Omit<SentUpdate, "columns">, columns: Columns): void =>
    send.mutate(
      { ...asked, columns },
      {
        onSuccess: (id) => {
          setSent({ ...asked, id });
          change({ file: String(id) });
        },
      },
    );
  return (
    <>
      <h1>Confirmations</h1>
      <p className="muted">
        A file in which an advertiser confirms or declines conversions. It is checked first, and
        nothing changes before you apply it.
      </p>
      {mayWrite && (
        <NewUpdate
          file={file}
          onFile={setFile}
          isSending={send.isPending}
          onSend={(asked) => start(asked, {})}
        />
      )}
      {send.isError && <ProblemNotice error={send.error} />}
      {Number.isInteger(shown) && shown > 0 && (
        <UpdateState
          key={shown}
          id={shown}
          mayWrite={mayWrite}
          onColumns={
            sent?.id === shown && !send.isPending ? (columns) => start(sent, columns) : undefined
          }
        />
      )}
      <RecentUpdates shown={shown} onOpen={(id) => change({ file: String(id) })} />
    </>
  );
}
