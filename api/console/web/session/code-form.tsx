import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";

/** The second step of a sign-in: a code of the app, or a recovery code. */
export function CodeForm({
  api,
  onSignedIn,
}: {
  readonly api: Api;
  readonly onSignedIn: () => Promise<unknown>;
}): ReactElement {
  const [code, setCode] = useState("");
  const give = useMutation({
    mutationFn: async () => await read(api.POST("/sign-in/second-factor", { body: { code } })),
    onSuccess: async () => void (await onSignedIn()),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    give.mutate();
  };
  return (
    <>
      {give.isError && <ProblemNotice error={give.error} />}
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Code"
          hint="Six digits from your app, or a recovery code"
          autoComplete="one-time-code"
          required
          value={code}
          onChange={setCode}
        />
        <button type="submit" className="button first" disabled={give.isPending}>
          Continue
        </button>
      </form>
    </>
  );
}
