import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactElement, useState } from "react";
import { useLocation } from "wouter";
import { type Api, read } from "../client/api-client.ts";
import { faultWords } from "../client/fault-words.ts";
import { Problem } from "../client/problem.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { TextField } from "../parts/text-field.tsx";
import { forgetPlace } from "./last-place.ts";
import { ProviderButton } from "./provider-button.tsx";
import { SinglePanel } from "./single-panel.tsx";

type Link = {
  readonly kind: "first_admin" | "invitation" | "reset";
  readonly email: string | null;
  readonly workspace: string | null;
};

/** Who has signed in here. */
type Own = { readonly email_proved: boolean };

type Given = { readonly email: string; readonly name: string; readonly password: string };

const TITLES = {
  first_admin: "Set up your account",
  invitation: "Join",
  reset: "Choose a new password",
} as const;
const FORM_HEIGHT = 280;
const ASK_AGAIN = "Whoever gave you the link can make another one, and so can an admin.";

/** Uses a one-time link. Its token stands behind `#`, so it reaches no server log and no other page. */
export function Join({
  api,
  token,
  own,
}: {
  readonly api: Api;
  readonly token: string;
  /** Undefined for somebody who has not signed in. */
  readonly own: Own | undefined;
}): ReactElement {
  const link = useQuery({
    queryKey: ["one-time-link", token],
    retry: false,
    queryFn: async () =>
      (await read(api.POST("/one-time-links/look-up", { body: { token } }))).data,
  });
  if (link.isError) {
    return (
      <SinglePanel title="This link does not work">
        <ProblemNotice error={link.error} advice={adviceFor(link.error)} />
      </SinglePanel>
    );
  }
  if (link.data === undefined) {
    return (
      <SinglePanel title="One moment">
        <Skeleton height={FORM_HEIGHT} />
      </SinglePanel>
    );
  }
  return <JoinForm api={api} token={token} link={link.data} own={own} />;
}

/** Checking the address does not help if the link is gone. */
function adviceFor(error: unknown): string | undefined {
  return error instanceof Problem && error.code === "not_found" ? ASK_AGAIN : undefined;
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
  own,
}: {
  readonly api: Api;
  readonly token: string;
  readonly link: Link;
  readonly own: Own | undefined;
}): ReactElement {
  // An account whose e-mail is not proved is replaced, so it gets name and password anew.
  const isSignedIn = link.kind === "invitation" && own?.email_proved === true;
  const [given, setGiven] = useState<Given>({ email: link.email ?? "", name: "", password: "" });
  const queries = useQueryClient();
  const [, go] = useLocation();
  const body = isSignedIn ? { token } : { token, ...wantedBy(link, given) };
  const redeem = useMutation({
    mutationFn: async () => await read(api.POST("/one-time-links/redeem", { body })),
    onSuccess: async () => {
      // The link is used up, so it leaves the history as well.
      history.replaceState(null, "", "/console/");
      forgetPlace();
      await queries.resetQueries({ queryKey: ["session"] });
      go("/", { replace: true });
    },
  });
  const shown: readonly string[] = isSignedIn ? [] : SHOWN[link.kind];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    redeem.mutate();
  };
  return (
    <SinglePanel title={TITLES[link.kind]}>
      {link.workspace !== null && <p>{link.workspace}</p>}
      <Refusal error={redeem.error} shown={shown} />
      <Consequences kind={link.kind} own={own} />
      <form className="stack" onSubmit={submit}>
        {!isSignedIn && (
          <JoinFields
            link={link}
            given={given}
            faults={faultsIn(redeem.error)}
            onChange={setGiven}
          />
        )}
        <button type="submit" className="button first" disabled={redeem.isPending}>
          {link.kind === "reset" ? "Save and sign in" : "Continue"}
        </button>
      </form>
      {!isSignedIn && link.kind !== "reset" && (
        <ProviderButton api={api} wanted={{ connects: false, token, back: "/" }} />
      )}
    </SinglePanel>
  );
}

function faultsIn(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof Problem)) return {};
  return Object.fromEntries(
    Object.entries(error.fields).map(([name, fault]) => [name, faultWords(fault)]),
  );
}

/** Why the link was not used, unless a field of the form says so. */
function Refusal({
  error,
  shown,
}: {
  readonly error: unknown;
  readonly shown: readonly string[];
}): ReactElement | null {
  const faults = faultsIn(error);
  if (error === null || shown.some((name) => name in faults)) return null;
  return <ProblemNotice error={error} advice={adviceFor(error)} />;
}

/** The fields of each form, which show their own faults. */
const SHOWN = {
  first_admin: ["email", "name", "password"],
  invitation: ["name", "password"],
  reset: ["password"],
} as const;

/** What else the link ends, if anything. */
function Consequences({
  kind,
  own,
}: {
  readonly kind: Link["kind"];
  readonly own: Own | undefined;
}): ReactElement | null {
  if (kind === "reset")
    return <p className="muted">Your sessions, passkeys and connected accounts end.</p>;
  if (kind !== "invitation" || own === undefined || own.email_proved) return null;
  return (
    <p className="muted">
      The e-mail of your account is not proved yet. Set up the account anew: its sessions, passkeys,
      codes and connected accounts end.
    </p>
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
