import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { type Api, read } from "../client/api-client.ts";
import { CodeForm } from "./code-form.tsx";
import { SinglePanel } from "./single-panel.tsx";

/** The page of somebody whose password was right and whose code is missing. */
export function SecondFactor({ api }: { readonly api: Api }): ReactElement {
  const queries = useQueryClient();
  const again = async (): Promise<void> => await queries.resetQueries({ queryKey: ["session"] });
  const leave = useMutation({
    mutationFn: async () => await read(api.POST("/sign-out")),
    onSettled: again,
  });
  return (
    <SinglePanel title="Second factor">
      <CodeForm api={api} onSignedIn={again} />
      <button type="button" className="button plain" onClick={() => leave.mutate()}>
        Sign in as somebody else
      </button>
    </SinglePanel>
  );
}
