import { type FormEvent, type ReactElement, useState } from "react";
import type { Api } from "../client/api-client.ts";
import { Problem } from "../client/problem.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { adviceFor, faultsIn, type Link, LinkFacts, type Own } from "./join-link.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { SinglePanel } from "./single-panel.tsx";
import { useRedeem } from "./use-redeem.ts";

type Given = { readonly email: string; readonly name: string; readonly password: string };

const TITLES = {
  first_admin: "Set up your account",
  invitation: "Join",
  reset: "Choose a new password",
} as const;

/** A reset needs only the password, and only the first admin names an e-mail. */
function wantedBy(
  { kind }: Link,
  { email, name, password }: Given,
): { password: string; name?: string; email?: string } {
  if (kind === "reset") return { password };
  return kind === "first_admin" ? { password, name, email } : { password, name };
}

/** A new person, the first admin, or a new password. */
export function JoinForm({
  api,
  token,
  link,
  own,
  onKnown,
}: {
  readonly api: Api;
  readonly token: string;
  readonly link: Link;
  readonly own: Own | undefined;
  /** The e-mail of the invitation has an account. */
  readonly onKnown: () => void;
}): ReactElement {
  const [given, setGiven] = useState<Given>({ email: link.email ?? "", name: "", password: "" });
  const redeem = useRedeem(api, { token, link });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    redeem.mutate(wantedBy(link, given), {
      onError: (error) => isKnown(link, error) && onKnown(),
    });
  };
  return (
    <SinglePanel title={TITLES[link.kind]}>
      <LinkFacts link={link} />
      <Refusal error={redeem.error} shown={SHOWN[link.kind]} />
      <Consequences kind={link.kind} own={own} />
      <form className="stack" onSubmit={submit}>
        <JoinFields link={link} given={given} faults={faultsIn(redeem.error)} onChange={setGiven} />
        <button type="submit" className="button first" disabled={redeem.isPending}>
          {link.kind === "reset" ? "Save and sign in" : "Continue"}
        </button>
      </form>
      {link.kind !== "reset" && (
        <ProviderButton api={api} wanted={{ connects: false, token, back: "/" }} />
      )}
      {link.kind === "invitation" && (
        <button type="button" className="button plain" onClick={onKnown}>
          I have an account
        </button>
      )}
    </SinglePanel>
  );
}

/** Whether the invitation is for somebody who has signed in before, here or elsewhere. */
function isKnown({ kind }: Link, error: unknown): boolean {
  return (
    kind === "invitation" &&
    error instanceof Problem &&
    error.code === "conflict" &&
    /signed in before/.test(error.fields["email"] ?? "")
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
