import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import type { OwnMembership } from "../../member/use-session.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { GRANT_AT_FIRST, type Grant, grantFields, grantOf, rolesToGrant } from "./grant.ts";
import { NO_LINK, ShownLink } from "./made-link.tsx";

type Role = OwnMembership["role"];

const EMAIL: FormField = { name: "email", label: "E-mail", required: true };

/** Makes the link by which somebody joins. It is shown only once. */
export function InvitePerson({ onClose }: { readonly onClose: () => void }): ReactElement {
  const membership = useMembership();
  const { api, role, session, membershipId } = membership;
  const roles = rolesToGrant(membership);
  const first = roles.find((one) => one === GRANT_AT_FIRST.role) ?? roles[0];
  const [made, setMade] = useState(NO_LINK);
  const inviter = session.memberships.find(({ id }) => id === membershipId);
  const isStaff = role === "admin" || role === "analyst";
  const invite = useWrite(["invitations"], async (body: FormBody) => {
    const grant = isStaff ? grantOf(body, first) : ownGrant(role, inviter);
    const { data } = await read(
      api.POST("/invitations", { body: { email: String(body["email"] ?? ""), ...grant } }),
    );
    setMade({ link: data.link ?? "", mailed: data.mailed ?? null });
  });
  return (
    <Drawer title="Invite a person" onClose={onClose}>
      {made.link === "" ? (
        <RecordForm
          fields={isStaff ? [EMAIL, ...grantFields(roles)] : [EMAIL]}
          initial={{ role: first }}
          submit="Create invite link"
          onSubmit={async (body) => await invite.mutateAsync(body)}
        />
      ) : (
        <div className="stack">
          <ShownLink made={made} lasts="7 days" />
        </div>
      )}
    </Drawer>
  );
}

/** People of an account invite for their own account. */
function ownGrant(role: Role, own: OwnMembership | undefined): Grant {
  return {
    role,
    affiliate_id: own?.affiliate?.id ?? null,
    advertiser_id: own?.advertiser?.id ?? null,
  };
}
