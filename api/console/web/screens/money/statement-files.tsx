import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactElement } from "react";
import { problemFrom } from "../../client/problem.ts";
import { saveFile } from "../../client/save-file.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { isOwn } from "./statement.ts";

const FORMATS = [
  ["pdf", "PDF"],
  ["html", "HTML"],
  ["csv", "CSV"],
] as const;

/** Saves the document of a statement. It is fetched with the rights of this tab. */
export function StatementFiles({
  id,
  number,
}: {
  readonly id: number;
  readonly number: string;
}): ReactElement {
  const membership = useMembership();
  const below = isOwn(membership) ? "/me/statements" : "/statements";
  const save = useMutation({
    mutationFn: async (format: string) => {
      const headers = { "x-tracker-membership": String(membership.membershipId) };
      const response = await fetch(`/api/v1${below}/${id}/files/${format}`, { headers });
      if (!response.ok) throw problemFrom(response, await response.json());
      const file = await response.blob();
      const type = file.type.split(";")[0] ?? "";
      saveFile(`${number}.${format}`, [file], type);
    },
  });
  return (
    <>
      {FORMATS.map(([format, title]) => (
        <button
          key={format}
          type="button"
          className="button"
          disabled={save.isPending}
          onClick={() => save.mutate(format)}
        >
          <Download size={14} aria-hidden /> {title}
        </button>
      ))}
      {save.isError && <ProblemNotice error={save.error} />}
    </>
  );
}
