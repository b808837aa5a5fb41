import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { type FormBody, RecordForm } from "../../records/record-form.tsx";
import { GRANT_FIELDS, grantOf } from "./grant.ts";
import { NO_LINK, ShownLink } from "./made-link.tsx";
import type { Member } from "./member.ts";

/** What an admin changes about somebody else: role and account, a new password, or that the person is here at all. */
export function MemberDrawer({
  member,
  onClose,
}: {
  readonly member: Member;
  readonly onClose: () => void;
}): ReactElement {
  const { api } = useMembership();
  const path = { params: { path: { id: member.id } } };
  const change = useWrite(["members"], async (body: FormBody) => {
    const { role, affiliate_id: partner, advertiser_id: advertiser } = member;
    // What the form does not send is as before.
    const before = {
      role,
      ...(typeof partner === "number" ? { affiliate_id: partner } : {}),
      ...(typeof advertiser === "number" ? { advertiser_id: advertiser } : {}),
    };
    await read(api.PATCH("/members/{id}", { ...path, body: grantOf({ ...before, ...body }) }));
    onClose();
  });
  const remove = useWrite(["members"], async () => {
    await read(api.DELETE("/members/{id}", path));
    onClose();
  });
  return (
    <Drawer title={member.name} onClose={onClose}>
      <p className="muted">{member.email}</p>
      <RecordForm
        fields={GRANT_FIELDS}
        initial={member}
        submit="Save"
        onSubmit={async (body) => await change.mutateAsync(body)}
      />
      <ResetLink member={member} />
      <h3>Remove</h3>
      <p className="muted">The person loses this workspace within a second.</p>
      {remove.isError && <ProblemNotice error={remove.error} />}
      <div className="row">
        <button
          type="button"
          className="button danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate(undefined)}
        >
          Remove from the workspace
        </button>
      </div>
    </Drawer>
  );
}

/** A link by which the person sets a new password. */
function ResetLink({ member }: { readonly member: Member }): ReactElement {
  const { api } = useMembership();
  const [made, setMade] = useState(NO_LINK);
  const make = useWrite([], async () => {
    const { data } = await read(
      api.POST("/members/{id}/reset-link", { params: { path: { id: member.id } } }),
    );
    setMade(data);
  });
  return (
    <>
      <h3>Lost password</h3>
      {make.isError && <ProblemNotice error={make.error} />}
      {made.link === "" ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={make.isPending}
            onClick={() => make.mutate(undefined)}
          >
            Make a reset link
          </button>
        </div>
      ) : (
        <ShownLink made={made} lasts="an hour" />
      )}
    </>
  );
}
