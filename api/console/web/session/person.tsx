import { useQueryClient } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { read } from "../client/api-client.ts";
import { useRecord } from "../client/records.ts";
import { useApi } from "../client/use-api.ts";
import { formatInstant } from "../format/time.ts";
import { OwnLook } from "../look/own-look.tsx";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { type FormBody, RecordForm } from "../records/record-form.tsx";
import { deviceWords } from "./device-words.ts";
import { OwnFormats } from "./own-formats.tsx";
import { OwnPasskeys } from "./own-passkeys.tsx";
import { OwnProvider } from "./own-provider.tsx";
import { OwnSecondFactor } from "./own-second-factor.tsx";
import { useSignInOptions } from "./use-sign-in-options.ts";

/** What belongs to the person and not to a workspace: name, password, second factor and sessions. */
export function Person(): ReactElement {
  const { session } = useMembership();
  const api = useApi(0);
  const queries = useQueryClient();
  const rename = useWrite(["own-sessions"], async (body: FormBody) => {
    await read(api.PATCH("/person", { body }));
    await queries.invalidateQueries({ queryKey: ["session"] });
  });
  const change = useWrite(["own-sessions"], async (body: FormBody) => {
    await read(
      api.POST("/person/password", { body: { password: String(body["password"] ?? "") } }),
    );
  });
  return (
    <>
      <h1>You</h1>
      <section className="panel stack narrow">
        <h2>{session.person.email}</h2>
        <RecordForm
          fields={[{ name: "name", label: "Name", required: true }]}
          initial={{ name: session.person.name }}
          submit="Save"
          onSubmit={async (body) => await rename.mutateAsync(body)}
        />
        {rename.isSuccess && <p role="status">Saved.</p>}
        {!session.person.email_proved && <UnprovedEmail />}
      </section>
      <section className="panel stack narrow">
        <h2>Password</h2>
        <p className="muted">A new one ends all your other sessions.</p>
        <RecordForm
          fields={[
            {
              name: "password",
              label: "New password",
              kind: "new-password",
              hint: "At least 12 characters",
              required: true,
            },
          ]}
          submit="Set the password"
          onSubmit={async (body) => await change.mutateAsync(body)}
        />
        {change.isSuccess && <p role="status">The new password is set.</p>}
      </section>
      <OwnLook />
      <OwnFormats />
      <OwnSecondFactor />
      <OwnPasskeys />
      <OwnProvider />
      <OwnSessions />
    </>
  );
}

/** For somebody who came by a link that its maker has seen, too. */
function UnprovedEmail(): ReactElement {
  const mail = useSignInOptions(useApi(0))?.mail === true;
  return (
    <p className="notice warn">
      Your e-mail is not proved, so links of other workspaces do not let this account in.{" "}
      {mail
        ? "Sign out and use “Forgot the password?”: the link in the mail proves it. Passkeys and codes are set up again afterwards."
        : "The operator of this installation can give you a link that proves it."}
    </p>
  );
}

function OwnSessions(): ReactElement {
  const membership = useMembership();
  const api = useApi(0);
  const sessions = useRecord(membership, {
    name: "own-sessions",
    id: "all",
    load: async (signal) => (await read(api.GET("/sessions", { signal }))).data,
  });
  const end = useWrite(["own-sessions"], async (id: string) => {
    await read(api.DELETE("/sessions/{id}", { params: { path: { id } } }));
  });
  return (
    <section className="panel stack narrow">
      <h2>Sessions</h2>
      {sessions.isError && <ProblemNotice error={sessions.error} />}
      {end.isError && <ProblemNotice error={end.error} />}
      <ul className="plain-list">
        {sessions.data?.map((one) => (
          <li key={one.id} className="row">
            <span className="grow" title={one.user_agent}>
              <StrangerText text={deviceWords(one.user_agent)} />
              <br />
              <span className="muted">
                {one.ip}, last seen {formatInstant(one.last_seen_at, membership.zone)}
              </span>
            </span>
            {one.is_current ? (
              <span className="badge good">This one</span>
            ) : (
              <button
                type="button"
                className="button"
                disabled={end.isPending}
                onClick={() => end.mutate(one.id)}
              >
                End
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
