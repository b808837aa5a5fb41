import { useMutation } from "@tanstack/react-query";
import type { ReactElement } from "react";
import type { Api } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { goToProvider, type Wanted } from "./provider-flow.ts";
import { useSignInOptions } from "./use-sign-in-options.ts";

/** Leads to the identity provider. Nothing where none is set up. */
export function ProviderButton({
  api,
  verb = "Continue",
  wanted,
}: {
  readonly api: Api;
  readonly verb?: string;
  readonly wanted: Wanted;
}): ReactElement | null {
  const provider = useSignInOptions(api)?.oidc;
  const leave = useMutation({ mutationFn: async () => await goToProvider(api, wanted) });
  if (provider === undefined || provider === null) return null;
  return (
    <>
      {leave.isError && <ProblemNotice error={leave.error} />}
      <button
        type="button"
        className="button"
        disabled={leave.isPending}
        onClick={() => leave.mutate()}
      >
        {verb} with {provider.name}
      </button>
    </>
  );
}
