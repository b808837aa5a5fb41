import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { namedAddress, type SignedInState, signInWithPasskey } from "./passkeys.ts";
import { usePasskeysHere } from "./use-sign-in-options.ts";

/** E-mail and password, or a passkey. Nobody learns here whether an e-mail is known. */
export function SignInForm({
  api,
  email: known,
  onSignedIn,
}: {
  readonly api: Api;
  /** E-mail of the person whose session has ended. */
  readonly email?: string;
  readonly onSignedIn: (state: SignedInState) => Promise<unknown>;
}): ReactElement {
  const [email, setEmail] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const onSuccess = async (state: SignedInState): Promise<void> => void (await onSignedIn(state));
  const byPassword = useMutation({
    mutationFn: async () =>
      (await read(api.POST("/sign-in", { body: { email, password } }))).data.state,
    onSuccess,
  });
  const byPasskey = useMutation({
    mutationFn: async () => await signInWithPasskey(api),
    onSuccess,
  });
  const failed = byPassword.error ?? byPasskey.error;
  const isSending = byPassword.isPending || byPasskey.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // React hands the event on to a form of the page below.
    event.stopPropagation();
    byPasskey.reset();
    byPassword.mutate();
  };
  return (
    <>
      {failed !== null && <ProblemNotice error={failed} />}
      <form className="stack" onSubmit={submit}>
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        <button type="submit" className="button first" disabled={isSending}>
          Sign in
        </button>
      </form>
      <PasskeyWay
        api={api}
        isSending={isSending}
        onUse={() => {
          byPassword.reset();
          byPasskey.mutate();
        }}
      />
    </>
  );
}

/** The button where passkeys work. On an address of this machine, the link to where they do. */
function PasskeyWay({
  api,
  isSending,
  onUse,
}: {
  readonly api: Api;
  readonly isSending: boolean;
  readonly onUse: () => void;
}): ReactElement | null {
  const canPasskey = usePasskeysHere(api);
  const named = namedAddress(location);
  if (canPasskey) {
    return (
      <button type="button" className="button" disabled={isSending} onClick={onUse}>
        Use a passkey
      </button>
    );
  }
  if (named === undefined) return null;
  return (
    <p className="muted">
      Passkeys work at{" "}
      <a className="break" href={named}>
        {named}
      </a>
    </p>
  );
}
