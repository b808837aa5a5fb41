import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect } from "react";
import { useLocation } from "wouter";
import type { Api } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { finishAtReturn } from "./provider-flow.ts";
import { SinglePanel } from "./single-panel.tsx";

const HEIGHT = 120;

/** Where the identity provider sends the browser back to. */
export function ProviderReturn({ api }: { readonly api: Api }): ReactElement {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const finished = useQuery({
    queryKey: ["provider-return"],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => await finishAtReturn(api, location.search.slice(1)),
  });
  const back = finished.data;
  useEffect(() => {
    if (back === undefined) return;
    const arrive = async (): Promise<void> => {
      // The answer of the provider is used up, so it leaves the history as well.
      history.replaceState(null, "", "/console/");
      queries.removeQueries({ queryKey: ["provider-return"] });
      await queries.resetQueries({ queryKey: ["session"] });
      go(back, { replace: true });
    };
    void arrive();
  }, [back, queries, go]);
  if (finished.isError) {
    return (
      <SinglePanel title="You are not signed in">
        <ProblemNotice error={finished.error} />
        <p>
          <a href="/console/">Begin again</a>
        </p>
      </SinglePanel>
    );
  }
  return (
    <SinglePanel title="One moment">
      <Skeleton height={HEIGHT} />
    </SinglePanel>
  );
}
