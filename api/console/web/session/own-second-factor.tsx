import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import { type FormBody, RecordForm } from "../records/record-form.tsx";

/** Codes of an app as the second factor. */
export function OwnSecondFactor(): ReactElement {
  const { session } = useMembership();
  const api = useApi(0);
  const queries = useQueryClient();
  const [codes, setCodes] = useState<readonly string[]>([]);
  const again = async (): Promise<void> =>
    await queries.invalidateQueries({ queryKey: ["session"] });
  const start = useWrite([], async () => (await read(api.POST("/person/totp"))).data);
  const confirm = useWrite([], async (body: FormBody) => {
    const { data } = await read(
      api.POST("/person/totp/confirm", { body: { code: String(body["code"] ?? "") } }),
    );
    setCodes(data.recovery_codes);
    await again();
  });
  const remove = useWrite([], async () => {
    await read(api.DELETE("/person/totp"));
    await again();
  });
  return (
    <section className="panel stack narrow">
      <h2>Second factor</h2>
      {start.isError && <ProblemNotice error={start.error} />}
      {remove.isError && <ProblemNotice error={remove.error} />}
      {codes.length > 0 && <RecoveryCodes codes={codes} />}
      {session.person.has_totp ? (
        <div className="row wrap">
          <span className="grow">Signing in needs a code of your app.</span>
          <button
            type="button"
            className="button danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate(undefined)}
          >
            Remove it
          </button>
        </div>
      ) : start.data === undefined ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={start.isPending}
            onClick={() => start.mutate(undefined)}
          >
            Set up codes
          </button>
        </div>
      ) : (
        <>
          <p>Scan this with your app, then enter the code that it shows.</p>
          <QrCode text={start.data.uri} label="QR code for your app" />
          <code className="break">{start.data.secret}</code>
          <RecordForm
            fields={[{ name: "code", label: "Code", required: true }]}
            submit="Confirm"
            onSubmit={async (body) => await confirm.mutateAsync(body)}
          />
        </>
      )}
    </section>
  );
}

function RecoveryCodes({ codes }: { readonly codes: readonly string[] }): ReactElement {
  return (
    <div className="notice warn" role="status">
      <div className="stack tight grow">
        <strong>Keep these codes in a safe place</strong>
        <p>Each signs you in once when your app is lost. They are shown only now.</p>
        <code className="break">{codes.join(" ")}</code>
        <CopyButton label="Copy the codes" text={codes.join("\n")} />
      </div>
    </div>
  );
}
