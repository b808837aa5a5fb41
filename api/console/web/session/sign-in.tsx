import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { Door } from "./door.tsx";

/** E-mail and password. Nobody learns here whether an e-mail is known. */
export function SignIn({ api }: { readonly api: Api }): ReactElement {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const queries = useQueryClient();
  const signIn = useMutation({
    mutationFn: async () => await read(api.POST("/sign-in", { body: { email, password } })),
    onSuccess: async () => await queries.resetQueries({ queryKey: ["session"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <Door title="Sign in">
      {signIn.isError && <ProblemNotice error={signIn.error} />}
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
        <button type="submit" className="button first" disabled={signIn.isPending}>
          Sign in
        </button>
      </form>
      <p className="muted">
        No account, or the password is lost? Ask an admin of your workspace for a link.
      </p>
    </Door>
  );
}
