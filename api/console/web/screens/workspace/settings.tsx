import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { currencyChoices, zoneChoices } from "../../records/known-choices.ts";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { WorkspaceToken } from "./workspace-token.tsx";

const HEIGHT = 420;
const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  { name: "brand_name", label: "Name for partners" },
  {
    name: "timezone",
    label: "Time zone",
    load: zoneChoices,
    hint: "For the days of reports and caps",
  },
  { name: "currency", label: "Currency", load: currencyChoices },
  {
    name: "default_fallback_url",
    label: "Fallback URL",
    hint: "For visitors of broken links",
  },
  {
    name: "attribution_model",
    label: "Attribution",
    choices: [
      ["last", "The last click gets the conversion"],
      ["first", "The first click gets the conversion"],
    ],
  },
  {
    name: "ip_storage",
    label: "Visitor IPs",
    choices: [
      ["full", "Stored in full"],
      ["truncated", "Stored without the last part"],
    ],
  },
  {
    name: "sign_up",
    label: "Sign-up of partners",
    choices: [
      ["closed", "Closed: partners come by invitation"],
      ["review", "Open: new partners wait in the inbox"],
    ],
  },
  {
    name: "allowed_destinations",
    label: "Allowed deep-link hosts",
    kind: "list",
    hint: "Separate with commas",
  },
];

/** What applies to everything in the workspace. */
export function Settings(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const record = useRecord(membership, {
    name: "workspace",
    id: "own",
    load: async (signal) => (await read(api.GET("/workspace", { signal }))).data,
  });
  const save = useWrite(["workspace"], async (body: FormBody) => {
    await read(api.PATCH("/workspace", { body }));
  });
  const workspace = record.data;
  const mayWrite = role === "admin";
  return (
    <>
      <h1>Workspace</h1>
      {record.isError && <ProblemNotice error={record.error} />}
      {workspace === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {workspace !== undefined && (
        <section className="panel stack narrow">
          {mayWrite ? (
            <RecordForm
              key={workspace.updated_at}
              fields={FIELDS}
              initial={workspace}
              submit="Save"
              onSubmit={async (body) => await save.mutateAsync(body)}
            />
          ) : (
            <Facts
              facts={[
                ["Name", workspace.name],
                ["Time zone", workspace.timezone],
                ["Currency", workspace.currency],
                ["Attribution", workspace.attribution_model],
              ]}
            />
          )}
          {save.isSuccess && <p role="status">Saved.</p>}
          {workspace.sign_up === "review" && <SignUpAddress slug={workspace.slug} />}
        </section>
      )}
      {workspace?.postback_token !== undefined && (
        <WorkspaceToken token={workspace.postback_token} />
      )}
    </>
  );
}

/** The page to which people who want to be partners are sent. */
function SignUpAddress({ slug }: { readonly slug: string }): ReactElement {
  const address = `${location.origin}/console/signup/${slug}/partner`;
  return (
    <div className="stack tight">
      <h2>Page for new partners</h2>
      <div className="row wrap">
        <code className="grow break">{address}</code>
        <CopyButton label="Copy the address" text={address} />
      </div>
    </div>
  );
}
