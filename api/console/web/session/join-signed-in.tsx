import { type ReactElement, useState } from "react";
import type { Api } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { CodeForm } from "./code-form.tsx";
import { adviceFor, type Link, LinkFacts, type Own } from "./join-link.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SinglePanel } from "./single-panel.tsx";
import { useRedeem } from "./use-redeem.ts";

/** Adds a workspace to an account that exists: its owner signs in here, or has done so. */
export function JoinSignedIn({
  api,
  token,
  link,
  own,
  onNew,
}: {
  readonly api: Api;
  readonly token: string;
  readonly link: Link;
  /** Undefined for somebody who has not signed in. */
  readonly own: Own | undefined;
  /** Undefined for an account that is known to exist. */
  readonly onNew: (() => void) | undefined;
}): ReactElement {
  const redeem = useRedeem(api, { token, link });
  const [isCodeMissing, setCodeMissing] = useState(false);
  const join = async (): Promise<void> => {
    await redeem.mutateAsync({}).catch(() => undefined);
  };
  const isOwn = own !== undefined && isSame(own.email, link.email ?? own.email);
  return (
    <SinglePanel title={isOwn ? "Add this workspace" : "Sign in to add this workspace"}>
      <LinkFacts link={link} />
      {redeem.isError && <ProblemNotice error={redeem.error} advice={adviceFor(redeem.error)} />}
      {own !== undefined && !isOwn && (
        <p className="notice warn">
          <span>
            You are signed in as <StrangerText text={own.email} />, and the invitation is for
            another e-mail. Signing in below ends your session here.
          </span>
        </p>
      )}
      {isOwn ? (
        <button
          type="button"
          className="button first"
          disabled={redeem.isPending}
          onClick={() => void join()}
        >
          Join
        </button>
      ) : isCodeMissing ? (
        <CodeForm api={api} onSignedIn={join} />
      ) : (
        <>
          {own === undefined && <p>You have an account. Sign in to add this workspace.</p>}
          <SignInForm
            api={api}
            email={link.email ?? ""}
            onSignedIn={async (state) => {
              if (state === "full") await join();
              else setCodeMissing(true);
            }}
          />
          <ProviderButton api={api} wanted={{ connects: false, token, back: "/" }} />
        </>
      )}
      {onNew !== undefined && (
        <button type="button" className="button plain" onClick={onNew}>
          I have no account yet
        </button>
      )}
    </SinglePanel>
  );
}

function isSame(email: string, other: string): boolean {
  return email.toLowerCase() === other.toLowerCase();
}
