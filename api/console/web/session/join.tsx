import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { useLocation } from "wouter";
import { type Api, read } from "../client/api-client.ts";
import { Problem } from "../client/problem.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { TextField } from "../parts/text-field.tsx";
import { Door } from "./door.tsx";
import { ProviderButton } from "./provider-button.tsx";

type Link = {
  readonly kind: "first_admin" | "invitation" | "reset";
  readonly email: string | null;
  readonly workspace: string | null;
};

type Given = { readonly email: string; readonly name: string; readonly password: string };

const TITLES = {
  first_admin: "Set up your account",
  invitation: "Join",
  reset: "Choose a new password",
} as const;
const FORM_HEIGHT = 280;

/** Uses a one-time link. Its token stands behind `#`, so it reaches no server log and no other page. */
export function Join({
  api,
  token,
  isSignedIn,
}: {
  readonly api: Api;
  readonly token: string;
  readonly isSignedIn: boolean;
}): ReactElement {
  const link = useQuery({
    queryKey: ["one-time-link", token],
    retry: false,
    queryFn: async () =>
      (await read(api.POST("/one-time-links/look-up", { body: { token } }))).data,
  });
  if (link.isError) {
    return (
      <Door title="This link does not work">
        <ProblemNotice error={link.error} />
        <p>It may have been used, or it is too old. Ask for a new one.</p>
      </Door>
    );
  }
  if (link.data === undefined) {
    return (
      <Door title="One moment">
        <Skeleton height={FORM_HEIGHT} />
      </Door>
    );
  }
  return (
    <JoinForm
      api={api}
      token={token}
      link={link.data}
      isSignedIn={isSignedIn && link.data.kind === "invitation"}
    />
  );
}

/** A reset needs only the password, and only the first admin names an e-mail. */
function wantedBy(
  { kind }: Link,
  { email, name, password }: Given,
): { password: string; name?: string; email?: string } {
  if (kind === "reset") return { password };
  return kind === "first_admin" ? { password, name, email } : { password, name };
}

function JoinForm({
  api,
  token,
  link,
  isSignedIn,
}: {
  readonly api: Api;
  readonly token: string;
  readonly link: Link;
  readonly isSignedIn: boolean;
}): ReactElement {
  const [given, setGiven] = useState<Given>({ email: link.email ?? "", name: "", password: "" });
  const queries = useQueryClient();
  const [, go] = useLocation();
  const body = isSignedIn ? { token } : { token, ...wantedBy(link, given) };
  const redeem = useMutation({
    mutationFn: async () => await read(api.POST("/one-time-links/redeem", { body })),
    onSuccess: async () => {
      // The link is used up, so it leaves the history as well.
      history.replaceState(null, "", "/console/");
      await queries.resetQueries({ queryKey: ["session"] });
      go("/", { replace: true });
    },
  });
  const fields = redeem.error instanceof Problem ? redeem.error.fields : {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    redeem.mutate();
  };
  return (
    <Door title={TITLES[link.kind]}>
      {link.workspace !== null && <p>{link.workspace}</p>}
      {redeem.isError && Object.keys(fields).length === 0 && <ProblemNotice error={redeem.error} />}
      <form className="stack" onSubmit={submit}>
        {!isSignedIn && (
          <JoinFields link={link} given={given} faults={fields} onChange={setGiven} />
        )}
        <button type="submit" className="button first" disabled={redeem.isPending}>
          {link.kind === "reset" ? "Save and sign in" : "Continue"}
        </button>
      </form>
      {!isSignedIn && link.kind !== "reset" && (
        <ProviderButton api={api} wanted={{ connects: false, token, back: "/" }} />
      )}
    </Door>
  );
}

function JoinFields({
  link,
  given,
  faults,
  onChange,
}: {
  readonly link: Link;
  readonly given: Given;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (given: Given) => void;
}): ReactElement {
  return (
    <>
      {link.kind === "first_admin" && (
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={given.email}
          onChange={(email) => onChange({ ...given, email })}
          fault={faults["email"]}
        />
      )}
      {link.kind !== "reset" && (
        <TextField
          label="Your name"
          autoComplete="name"
          required
          value={given.name}
          onChange={(name) => onChange({ ...given, name })}
          fault={faults["name"]}
        />
      )}
      <TextField
        label="Password"
        type="password"
        hint="At least 12 characters"
        autoComplete="new-password"
        required
        value={given.password}
        onChange={(password) => onChange({ ...given, password })}
        fault={faults["password"]}
      />
    </>
  );
}
