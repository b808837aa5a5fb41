import { useQueryClient } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { read } from "../client/api-client.ts";
import { useRecord } from "../client/records.ts";
import { useApi } from "../client/use-api.ts";
import { formatInstant } from "../format/time.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { type FormBody, RecordForm } from "../records/record-form.tsx";
import { addPasskey, namedAddress } from "./passkeys.ts";
import { usePasskeysHere } from "./use-sign-in-options.ts";

/** Passkeys of the person: one of them replaces password and code. */
export function OwnPasskeys(): ReactElement {
  const api = useApi(0);
  const queries = useQueryClient();
  const canPasskey = usePasskeysHere(api);
  const named = namedAddress(location);
  const add = useWrite(["own-passkeys", "own-sessions"], async (body: FormBody) => {
    await addPasskey(api, String(body["name"] ?? ""));
    await queries.invalidateQueries({ queryKey: ["session"] });
  });
  return (
    <section className="panel stack narrow">
      <h2>Passkeys</h2>
      <p className="muted">A passkey replaces password and code. It stays on your device.</p>
      <PasskeyList />
      {canPasskey && (
        <RecordForm
          key={add.submittedAt}
          fields={[
            {
              name: "name",
              label: "Name of the new passkey",
              hint: "Such as Laptop",
              required: true,
            },
          ]}
          submit="Add a passkey"
          onSubmit={async (body) => await add.mutateAsync(body)}
        />
      )}
      {add.isSuccess && <p role="status">The passkey is added.</p>}
      {!canPasskey && named !== undefined && (
        <p>
          Passkeys need a host name. Open <a href={named}>{named}</a> to add one.
        </p>
      )}
    </section>
  );
}

function PasskeyList(): ReactElement {
  const membership = useMembership();
  const api = useApi(0);
  const queries = useQueryClient();
  const passkeys = useRecord(membership, {
    name: "own-passkeys",
    id: "all",
    load: async (signal) => (await read(api.GET("/person/passkeys", { signal }))).data,
  });
  const remove = useWrite(["own-passkeys"], async (id: number) => {
    await read(api.DELETE("/person/passkeys/{id}", { params: { path: { id } } }));
    await queries.invalidateQueries({ queryKey: ["session"] });
  });
  return (
    <>
      {passkeys.isError && <ProblemNotice error={passkeys.error} />}
      {remove.isError && <ProblemNotice error={remove.error} />}
      <ul className="plain-list">
        {passkeys.data?.map((one) => (
          <li key={one.id} className="row">
            <span className="grow">
              <StrangerText text={one.name} />
              <br />
              <span className="muted">
                {one.last_used_at === null
                  ? "never used"
                  : `last used ${formatInstant(one.last_used_at, membership.zone)}`}
              </span>
            </span>
            <button
              type="button"
              className="button danger"
              disabled={remove.isPending}
              aria-label={`Remove ${one.name}`}
              onClick={() => remove.mutate(one.id)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
