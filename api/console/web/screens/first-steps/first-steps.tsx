import { useQuery } from "@tanstack/react-query";
import { Circle, CircleCheck } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { useOwnLook } from "../../look/use-own-look.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { type FirstStep, readFirstSteps } from "./step-list.ts";

const HEIGHT = 480;

/** What an admin of an empty workspace does first. The charts stand there after the first conversion, or once the steps are put away. */
export function FirstSteps({ charts }: { readonly charts: ReactNode }): ReactElement {
  const membership = useMembership();
  const { role, session, membershipId } = membership;
  const { save, saving, error } = useOwnLook();
  const workspace = session.memberships.find(({ id }) => id === membershipId)?.workspace.id ?? 0;
  const { first_steps_hidden: hidden = [] } = { ...session.person.preferences, ...saving };
  const isWanted = role === "admin" && !hidden.includes(workspace);
  const steps = useQuery<readonly FirstStep[]>({
    queryKey: [membershipId, "first-steps"],
    enabled: isWanted,
    // A workspace that once had a conversion has had it forever.
    staleTime: (query) => (query.state.data?.length === 0 ? Infinity : 0),
    queryFn: async ({ signal }) => await readFirstSteps(membership, signal),
  });
  const known = steps.data ?? [];
  if (isWanted && steps.isPending) return <Skeleton height={HEIGHT} />;
  if (!isWanted || known.length === 0) return <>{charts}</>;
  const done = known.filter(({ isDone }) => isDone).length;
  return (
    <section className="panel stack" aria-label="First steps">
      <header className="row wrap">
        <h2 className="grow">First steps</h2>
        <span className="muted">
          {done} of {known.length} done
        </span>
        <button
          type="button"
          className="button plain"
          onClick={() => save({ first_steps_hidden: [...hidden, workspace] })}
        >
          Don't show this again
        </button>
      </header>
      {error !== null && <ProblemNotice error={error} />}
      <ol className="plain-list">
        {known.map((step) => (
          <li key={step.name}>
            <OneStep step={step} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function OneStep({
  step: { title, about, action, path, isDone },
}: {
  readonly step: FirstStep;
}): ReactElement {
  const { base } = useMembership();
  return (
    <div className="row wrap">
      {isDone ? <CircleCheck size={18} aria-hidden /> : <Circle size={18} aria-hidden />}
      <div className="grow">
        <strong>{title}</strong>
        <span className="unseen">{isDone ? ", done" : ", to do"}</span>
        <div className="muted">{about}</div>
      </div>
      {!isDone && (
        <Link className="button" href={base + path}>
          {action}
        </Link>
      )}
    </div>
  );
}
