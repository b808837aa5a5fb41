import { useQueryClient } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { pathBelowConsole } from "./provider-flow.ts";
import { useSignInOptions } from "./use-sign-in-options.ts";

/** The identity provider as one more way to sign in. Nothing where none is set up. */
export function OwnProvider(): ReactElement | null {
  const { session } = useMembership();
  const api = useApi(0);
  const queries = useQueryClient();
  const provider = useSignInOptions(api)?.oidc;
  const remove = useWrite([], async () => {
    await read(api.DELETE("/person/oidc"));
    await queries.invalidateQueries({ queryKey: ["session"] });
  });
  if (provider === undefined || provider === null) return null;
  return (
    <section className="panel stack narrow">
      <h2>{provider.name}</h2>
      {remove.isError && <ProblemNotice error={remove.error} />}
      {session.person.has_oidc ? (
        <div className="row wrap">
          <span className="grow">You sign in with it.</span>
          <button
            type="button"
            className="button danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate(undefined)}
          >
            Disconnect
          </button>
        </div>
      ) : (
        <div className="row wrap">
          <ProviderButton
            api={api}
            verb="Connect"
            wanted={{ connects: true, back: pathBelowConsole() }}
          />
        </div>
      )}
    </section>
  );
}
