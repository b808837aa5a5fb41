import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider, type UseQueryResult } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { Router, useLocation } from "wouter";
import { Interruption } from "../client/interruption.ts";
import { openQueries } from "../client/queries.ts";
import { InterruptionContext, useApi } from "../client/use-api.ts";
import { later } from "../later.tsx";
import { neededFor, useSession } from "../member/use-session.ts";
import { goOrAsk } from "../parts/leaving.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { ScreenBoundary } from "../parts/screen-boundary.tsx";
import { Join } from "./join.tsx";
import { MembershipScreens } from "./membership-screens.tsx";
import { ProviderReturn } from "./provider-return.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { SignIn } from "./sign-in.tsx";
import { SinglePanel } from "./single-panel.tsx";

const SignUp = later(async () => (await import("./sign-up.tsx")).SignUp);

/** The whole page: signs in, then shows the screens of one membership. */
export function Console(): ReactElement {
  const [queries] = useState(openQueries);
  const [interruption] = useState(() => new Interruption());
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <InterruptionContext value={interruption}>
          <Router base="/console" aroundNav={goOrAsk}>
            <ScreenBoundary>
              <Entrance />
            </ScreenBoundary>
          </Router>
        </InterruptionContext>
      </QueryClientProvider>
    </CSPProvider>
  );
}

const SIGN_UP = /^\/signup\/([^/]+)\/partner\/?$/;

/** The page of applications needs nobody to be signed in. */
function Entrance(): ReactElement | null {
  const [path] = useLocation();
  const slug = SIGN_UP.exec(path)?.[1];
  const api = useApi(0);
  return slug === undefined ? <Inside /> : <SignUp api={api} slug={decodeURIComponent(slug)} />;
}

function Inside(): ReactElement | null {
  const api = useApi(0);
  const session = useSession(api);
  const [path] = useLocation();
  const token = path === "/join" ? location.hash.slice(1) : "";
  const failure = useLastFailure(session);
  const needed = neededFor(failure);
  if (path === "/sign-in/oidc") return <ProviderReturn api={api} />;
  if (session.isPending && failure === null) return null;
  if (token !== "") return <Join api={api} token={token} own={session.data?.person} />;
  if (needed === "sign-in") return <SignIn api={api} />;
  if (needed === "second-factor") return <SecondFactor api={api} />;
  if (session.data === undefined) {
    return (
      <SinglePanel title="The console cannot start">
        <ProblemNotice error={failure} onRetry={() => void session.refetch()} />
      </SinglePanel>
    );
  }
  return <MembershipScreens session={session.data} />;
}

/**
 * Why nobody is known to be signed in. It stays while the question is asked again, as it is whenever the window gets the focus: what is
 * typed in a form of this page must not go.
 */
function useLastFailure({ error, isError, isSuccess }: UseQueryResult): unknown {
  const [failure, setFailure] = useState<unknown>(null);
  if (isError && error !== failure) setFailure(error);
  if (isSuccess && failure !== null) setFailure(null);
  return isError ? error : isSuccess ? null : failure;
}
