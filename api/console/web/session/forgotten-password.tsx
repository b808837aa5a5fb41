import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";

/** Asks for a link by mail. Nobody learns here whether an e-mail is known. */
export function ForgottenPassword({
  api,
  onBack,
}: {
  readonly api: Api;
  readonly onBack: () => void;
}): ReactElement {
  const [email, setEmail] = useState("");
  const ask = useMutation({
    mutationFn: async () => await read(api.POST("/sign-in/forgotten", { body: { email } })),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    ask.mutate();
  };
  return (
    <>
      {ask.isError && <ProblemNotice error={ask.error} />}
      {ask.isSuccess ? (
        <p role="status">
          If somebody here has this e-mail, a link is on its way. It works once, within an hour.
        </p>
      ) : (
        <form className="stack" onSubmit={submit}>
          <TextField
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={setEmail}
          />
          <button type="submit" className="button first" disabled={ask.isPending}>
            Mail me a link
          </button>
        </form>
      )}
      <button type="button" className="button plain" onClick={onBack}>
        Back
      </button>
    </>
  );
}
