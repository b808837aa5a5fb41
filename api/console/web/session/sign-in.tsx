import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import type { Api } from "../client/api-client.ts";
import { ForgottenPassword } from "./forgotten-password.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SinglePanel } from "./single-panel.tsx";
import { useSignInOptions } from "./use-sign-in-options.ts";

/** The page of somebody who has no session. */
export function SignIn({ api }: { readonly api: Api }): ReactElement {
  const queries = useQueryClient();
  const [isForgotten, setForgotten] = useState(false);
  const canMail = useSignInOptions(api)?.mail === true;
  if (isForgotten) {
    return (
      <SinglePanel title="A new password">
        <ForgottenPassword api={api} onBack={() => setForgotten(false)} />
      </SinglePanel>
    );
  }
  return (
    <SinglePanel title="Sign in">
      <SignInForm
        api={api}
        onSignedIn={async () => await queries.resetQueries({ queryKey: ["session"] })}
      />
      <ProviderButton api={api} wanted={{ connects: false, back: "/" }} />
      {canMail ? (
        <button type="button" className="button plain" onClick={() => setForgotten(true)}>
          Forgot the password?
        </button>
      ) : (
        <p className="muted">
          No account, or the password is lost? Ask an admin of your workspace for a link.
        </p>
      )}
    </SinglePanel>
  );
}
