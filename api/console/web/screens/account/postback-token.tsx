import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";

const GRACE_HOURS = 24;

/** The token in the advertiser's reports of conversions, and how to replace it. */
export function PostbackToken(): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const token = useRecord(membership, {
    name: "postback-token",
    id: "own",
    load: async (signal) => (await read(api.GET("/me/postback-token", { signal }))).data,
  });
  const rotate = useWrite(["postback-token"], async () => {
    await read(api.POST("/me/postback-token/rotate", { body: { grace_hours: GRACE_HOURS } }));
  });
  return (
    <section className="panel stack narrow">
      <h2>Postback token</h2>
      {token.isError && <ProblemNotice error={token.error} />}
      {rotate.isError && <ProblemNotice error={rotate.error} />}
      {token.data !== undefined && (
        <>
          <div className="row wrap">
            <code className="grow break">{token.data.postback_token}</code>
            <CopyButton label="Copy the token" text={token.data.postback_token} />
          </div>
          {token.data.old_tokens.map(({ ends_with: end, good_until: until }) => (
            <p key={end} className="muted">
              The token that ends with {end} works until {formatInstant(until, zone)}.
            </p>
          ))}
          {token.data.may_rotate && (
            <div className="row wrap">
              <button
                type="button"
                className="button"
                disabled={rotate.isPending}
                onClick={() => rotate.mutate(undefined)}
              >
                Replace it
              </button>
              <span className="muted">This one works for {GRACE_HOURS} more hours then.</span>
            </div>
          )}
        </>
      )}
    </section>
  );
}
