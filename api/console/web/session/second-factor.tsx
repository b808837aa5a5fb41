import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { Door } from "./door.tsx";

/** The second step of a sign-in: a code of the app, or a recovery code. */
export function SecondFactor({ api }: { readonly api: Api }): ReactElement {
  const [code, setCode] = useState("");
  const queries = useQueryClient();
  const give = useMutation({
    mutationFn: async () => await read(api.POST("/sign-in/second-factor", { body: { code } })),
    onSuccess: async () => await queries.resetQueries({ queryKey: ["session"] }),
  });
  const leave = useMutation({
    mutationFn: async () => await read(api.POST("/sign-out")),
    onSettled: async () => await queries.resetQueries({ queryKey: ["session"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    give.mutate();
  };
  return (
    <Door title="Second factor">
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
          Go on
        </button>
      </form>
      <button type="button" className="button plain" onClick={() => leave.mutate()}>
        Sign in as somebody else
      </button>
    </Door>
  );
}
