import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { read } from "../client/api-client.ts";
import type { Step } from "../client/interruption.ts";
import { useApi, useInterruption } from "../client/use-api.ts";
import type { Session } from "../member/use-session.ts";
import { Dialog } from "../parts/dialog.tsx";
import { CodeForm } from "./code-form.tsx";
import { ProveAgain } from "./prove-again.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** What a waiting request needs of the person, asked over the page. */
export function StepDialog({
  step,
  person,
}: {
  readonly step: Step;
  readonly person: Session["person"];
}): ReactElement {
  const interruption = useInterruption();
  const goOn = useGoOn(person.id);
  const api = useApi(0);
  if (step === "sign-in") return <SignInAgain person={person} onSignedIn={goOn} />;
  return (
    <Dialog title="Confirm it's you" onClose={() => interruption.finish(false)}>
      <p>This change needs a proof from the last 10 minutes.</p>
      <ProveAgain api={api} person={person} onProved={goOn} />
      <button type="button" className="button plain" onClick={() => interruption.finish(false)}>
        Cancel
      </button>
    </Dialog>
  );
}

/** Sends the waiting requests, unless somebody else has signed in: then the page starts anew, and nothing of the first person stays. */
function useGoOn(personId: number): () => Promise<void> {
  const interruption = useInterruption();
  const queries = useQueryClient();
  const api = useApi(0);
  return async () => {
    const { data } = await read(api.GET("/session"));
    if (data.person.id !== personId) {
      location.assign("/console/");
      return;
    }
    queries.setQueryData(["session"], data);
    interruption.finish(true);
  };
}

function SignInAgain({
  person,
  onSignedIn,
}: {
  readonly person: Session["person"];
  readonly onSignedIn: () => Promise<void>;
}): ReactElement {
  const api = useApi(0);
  const [needsCode, setNeedsCode] = useState(false);
  return (
    <Dialog title="Sign in again" hidesPage>
      <p>Your session has ended. What you have entered is kept.</p>
      {needsCode ? (
        <CodeForm api={api} onSignedIn={onSignedIn} />
      ) : (
        <SignInForm
          api={api}
          email={person.email}
          onSignedIn={async (state) => {
            if (state === "full") await onSignedIn();
            else setNeedsCode(true);
          }}
        />
      )}
      <a className="button plain" href="/console/">
        Leave this page
      </a>
    </Dialog>
  );
}
