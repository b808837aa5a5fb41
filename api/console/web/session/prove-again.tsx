import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import type { Session } from "../member/use-session.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { signInWithPasskey } from "./passkeys.ts";
import { ProviderButton } from "./provider-button.tsx";
import { pathBelowConsole } from "./provider-flow.ts";
import { usePasskeysHere } from "./use-sign-in-options.ts";

/** Keys, tokens and members need a proof of the last ten minutes: the password, a code of the second factor, or a passkey. */
export function ProveAgain({
  api,
  person,
  onProved,
}: {
  readonly api: Api;
  readonly person: Session["person"];
  readonly onProved: () => Promise<unknown>;
}): ReactElement {
  const [text, setText] = useState("");
  const byCode = person.has_totp;
  const canPasskey = usePasskeysHere(api) && person.passkeys > 0;
  const onSuccess = async (): Promise<void> => void (await onProved());
  const prove = useMutation({
    mutationFn: async () =>
      await read(
        api.POST("/sign-in/prove", { body: byCode ? { code: text } : { password: text } }),
      ),
    onSuccess,
  });
  // A sign-in is a proof, too.
  const byPasskey = useMutation({
    mutationFn: async () => await signInWithPasskey(api),
    onSuccess,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    prove.mutate();
  };
  return (
    <>
      {byPasskey.isError && <ProblemNotice error={byPasskey.error} />}
      {(byCode || person.has_password) && (
        <form className="stack" onSubmit={submit}>
          <TextField
            label={byCode ? "Code of your second factor" : "Your password"}
            type={byCode ? "text" : "password"}
            autoComplete={byCode ? "one-time-code" : "current-password"}
            required
            value={text}
            onChange={setText}
            fault={prove.isError ? prove.error.message : undefined}
          />
          <button type="submit" className="button first" disabled={prove.isPending}>
            Continue
          </button>
        </form>
      )}
      {canPasskey && (
        <button
          type="button"
          className="button"
          disabled={byPasskey.isPending}
          onClick={() => byPasskey.mutate()}
        >
          Use a passkey
        </button>
      )}
      {person.has_oidc && (
        <ProviderButton api={api} wanted={{ connects: false, back: pathBelowConsole() }} />
      )}
    </>
  );
}
