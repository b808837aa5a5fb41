import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { STATEMENT_NAMES } from "./statement.ts";

/** Takes a draft or a carried statement back. */
export function VoidStatement({ id }: { readonly id: number }): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  const take = useWriteOnce(STATEMENT_NAMES, async () => {
    await read(api.POST("/statements/{id}/void", { params }));
  });
  return (
    <>
      <ConfirmButton
        label="Void"
        question="The statement is taken back. What it contains is on the next one."
        isBusy={take.isPending}
        onConfirm={() => take.mutate(undefined)}
      />
      {take.isError && <ProblemNotice error={take.error} />}
    </>
  );
}
