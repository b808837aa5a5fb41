import { useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { type Api, read } from "../client/api-client.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { JoinForm } from "./join-form.tsx";
import { adviceFor, type Link, type Own } from "./join-link.tsx";
import { JoinSignedIn } from "./join-signed-in.tsx";
import { SinglePanel } from "./single-panel.tsx";

const FORM_HEIGHT = 280;

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
  return <Ways api={api} token={token} link={link.data} own={own} />;
}

/** An account whose e-mail is not proved is replaced, so it gets name and password anew. */
function Ways({
  link,
  own,
  ...shared
}: {
  readonly api: Api;
  readonly token: string;
  readonly link: Link;
  readonly own: Own | undefined;
}): ReactElement {
  const [hasAccount, setHasAccount] = useState(false);
  const isSignedIn = own?.email_proved === true;
  if (link.kind === "invitation" && (isSignedIn || hasAccount))
    return (
      <JoinSignedIn
        {...shared}
        link={link}
        own={isSignedIn ? own : undefined}
        onNew={isSignedIn ? undefined : () => setHasAccount(false)}
      />
    );
  return <JoinForm {...shared} link={link} own={own} onKnown={() => setHasAccount(true)} />;
}
