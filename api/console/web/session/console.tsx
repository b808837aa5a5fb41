import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactElement, Suspense, useState } from "react";
import { Router, useLocation } from "wouter";
import { openQueries } from "../client/queries.ts";
import { useApi } from "../client/use-api.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Door } from "./door.tsx";
import { Join } from "./join.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { SignIn } from "./sign-in.tsx";
import { neededFor, useSession } from "./use-session.ts";
import { Workplace } from "./workplace.tsx";

/** The whole page: signs in, then shows the screens of one membership. */
export function Console(): ReactElement {
  const [queries] = useState(openQueries);
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <Suspense fallback={null}>
            <Entrance />
          </Suspense>
        </Router>
      </QueryClientProvider>
    </CSPProvider>
  );
}

function Entrance(): ReactElement | null {
  const api = useApi(0);
  const session = useSession(api);
  const [path] = useLocation();
  const token = path === "/join" ? location.hash.slice(1) : "";
  const needed = neededFor(session.error);
  if (session.isPending) return null;
  if (token !== "") return <Join api={api} token={token} isSignedIn={session.data !== undefined} />;
  if (needed === "sign-in") return <SignIn api={api} />;
  if (needed === "second-factor") return <SecondFactor api={api} />;
  if (session.data === undefined) {
    return (
      <Door title="The console cannot start">
        <ProblemNotice error={session.error} onRetry={() => void session.refetch()} />
      </Door>
    );
  }
  return <Workplace session={session.data} />;
}
