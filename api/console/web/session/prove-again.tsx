import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { TextField } from "../parts/text-field.tsx";
import { useMembership } from "./membership.ts";

/** Keys, tokens and members need a proof of the last ten minutes: the password, or a code of the second factor. */
export function ProveAgain(): ReactElement {
  const { session } = useMembership();
  const api = useApi(0);
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const byCode = session.person.has_totp;
  const prove = useMutation({
    mutationFn: async () =>
      await read(
        api.POST("/sign-in/prove", { body: byCode ? { code: text } : { password: text } }),
      ),
    onSuccess: async () => await queries.invalidateQueries({ queryKey: ["session"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    prove.mutate();
  };
  if (prove.isSuccess) return <p role="status">Thank you. Send it again now.</p>;
  return (
    <form className="row wrap" onSubmit={submit}>
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
        Go on
      </button>
    </form>
  );
}
